// Packs `catalog-hub-cli`: the command line and the client without the hub, for users of a hub on another machine.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import packageJson from '../package.json' with { type: 'json' };
import { OLDEST_NODE } from './without-runtime.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
/** Modules that serve or open a hub in this process, or find its Node; they are omitted, along with everything that only they import. */
const STAND_INS = new Map(
  Object.entries({
    'hub/hub.ts': 'without-hub.ts',
    'cli/hub/local-hub.ts': 'without-hub.ts',
    'cli/serve.ts': 'without-hub.ts',
    'cli/doctor/local-checks.ts': 'without-hub.ts',
    'bin/runtime.ts': 'without-runtime.ts',
  }).map(([path, standIn]) => [join(ROOT, 'src', path), join(ROOT, 'scripts', standIn)]),
);

const destination = resolve(process.argv[2] ?? '.');
const folder = await mkdtemp(join(tmpdir(), 'hub-cli-'));
try {
  const bundled = await bundle(join(folder, 'dist'));
  await writeFile(join(folder, 'NOTICES.txt'), await noticesOf(bundled));
  const tsc = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', join(folder, 'types')];
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', ...tsc], { cwd: ROOT, stdio: 'inherit' });
  for (const file of ['README.md', 'LICENSE']) await cp(join(ROOT, file), join(folder, file));
  await writeFile(join(folder, 'package.json'), JSON.stringify(description(), null, 2));
  await mkdir(destination, { recursive: true });
  execFileSync('npm', ['pack', '--loglevel', 'error', '--pack-destination', destination], {
    cwd: folder,
    stdio: 'inherit',
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Returns the folders of the packages that are in the bundle. */
async function bundle(outDir: string): Promise<string[]> {
  const packages = new Set<string>();
  await build({
    configFile: false,
    root: ROOT,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    plugins: [
      {
        name: 'without-hub',
        enforce: 'pre',
        async resolveId(source, importer) {
          const found = await this.resolve(source, importer, { skipSelf: true });
          return found && (STAND_INS.get(found.id) ?? found);
        },
        generateBundle(_options, output) {
          const modules = Object.values(output).flatMap((part) => (part.type === 'chunk' ? part.moduleIds : []));
          for (const id of modules) {
            const [root] = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id) ?? [];
            if (root) packages.add(root);
          }
        },
      },
    ],
    build: {
      ssr: true,
      outDir,
      // Vite would warn about a folder outside of the project.
      emptyOutDir: true,
      target: 'node22',
      rolldownOptions: {
        input: { hub: join(ROOT, 'src/bin/hub.ts'), client: join(ROOT, 'src/client/hub-client.ts') },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name].js' },
      },
    },
  });
  return [...packages].toSorted();
}

/** Their licenses require that copies contain them. */
async function noticesOf(packages: readonly string[]): Promise<string> {
  const notices = await Promise.all(
    packages.map(async (root) => {
      const { name, version, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
      const files = (await readdir(root)).filter((each) => /^(licen[cs]e|copying|notice)/i.test(each));
      if (files.length === 0) throw new Error(`${name} has no license file.`);
      const text = (await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')))).join('\n\n');
      return `${name} ${version} (${license})\n\n${text.trim()}\n`;
    }),
  );
  return `This package contains the following libraries.\n\n${notices.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function description(): object {
  const { version, license, type, dependencies } = packageJson;
  return {
    name: 'catalog-hub-cli',
    version,
    description: 'The command line and the client of Catalog Hub, for hubs on other machines.',
    license,
    type,
    engines: { node: `>=${OLDEST_NODE}` },
    bin: { hub: 'dist/hub.js' },
    exports: { './client': { types: './types/client/hub-client.d.ts', default: './dist/client.js' } },
    files: ['dist', 'types', 'NOTICES.txt'],
    // The client's types need zod; yaml is loaded lazily.
    dependencies: { zod: dependencies.zod, yaml: dependencies.yaml },
  };
}
