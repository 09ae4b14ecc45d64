// The image without a container engine: a folder laid out by the steps of the Dockerfile, and a PATH with only the
// programs of its base image and packages.
import { execFile } from 'node:child_process';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, realpath, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Image } from './dockerfile.ts';

const execute = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL('../', import.meta.url));
/** The user `nobody` on every Debian, which owns nothing else. */
const NOBODY = 65_534;
/** Too large to copy, and not needed by installs. */
const LEFT_OUT = /\/node_modules\/(node-(linux|darwin|win)-[^/]+|onnxruntime-[^/]+)$/;

export interface ImageFolder {
  /** The root folder of the image. */
  root: string;
  /** The path on this machine for a path of the image. */
  path(ofImage: string): string;
  /** Exactly the environment of the image. */
  env: Record<string, string>;
  /** The user of the hub; undefined when this test cannot choose one. */
  user: { uid: number; gid: number } | undefined;
  remove(): Promise<void>;
}

/** `hub` is the folder from `buildHub`. */
export async function layOut(image: Image, hub: string): Promise<ImageFolder> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'hub-image-')));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : undefined;
  const path = (ofImage: string) => join(root, ofImage);
  const remove = () => rm(root, { recursive: true, force: true, maxRetries: 3 });
  try {
    await chmod(root, 0o755);
    const programs = path('/usr/local/bin');
    await mkdir(programs, { recursive: true });
    await linkPrograms(path('/usr/bin'), await programsOf(image.packages));
    await addNode(root, programs);
    const env = { ...mapped(image.env, root), PATH: [programs, path('/usr/bin')].join(delimiter) };
    for (const command of image.commands) await runStep(command, { root, path: env.PATH, user });
    await symlink(hub, path(image.workdir));
    return { root, path, env, user, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Maps absolute paths in the environment to folders of the image. */
function mapped(env: Record<string, string>, root: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.startsWith('/') ? join(root, value) : value]),
  );
}

/** Runs one command of a RUN line, with its absolute paths below the folder and only the programs of the image. */
async function runStep(
  command: string,
  { root, path, user }: { root: string; path: string; user: ImageFolder['user'] },
): Promise<void> {
  const words = command.split(/\s+/).map((word) => (word.startsWith('/') ? join(root, word) : word));
  if (words[0] === 'chown' && !user) return;
  const [program = '', ...args] = words.map((word) =>
    /^\w+:\w+$/.test(word) && user ? `${user.uid}:${user.gid}` : word,
  );
  // As in a build, the proxy and the package index of the builder apply.
  await execute(program, args, { env: { ...process.env, PATH: path }, timeout: 120_000 });
}

/** Files in `bin` of the essential Debian packages, of the named ones, and of their dependencies. */
async function programsOf(packages: readonly string[]): Promise<string[]> {
  const essential = (await query('Package', 'Essential')).filter(([, isEssential]) => isEssential === 'yes');
  const wanted = new Set(essential.map(([name = '']) => name));
  const needs = await dependencies();
  const queue = [...wanted, ...packages];
  for (const name of packages)
    if (!needs.has(name)) throw new Error(`The package ${name} is not installed on this machine`);
  for (const name of queue) {
    wanted.add(name);
    for (const needed of needs.get(name) ?? []) {
      if (needs.has(needed) && !wanted.has(needed) && !queue.includes(needed)) queue.push(needed);
    }
  }
  const { stdout } = await execute('dpkg', ['-L', ...[...wanted].filter((name) => needs.has(name))], {
    maxBuffer: 50_000_000,
  });
  return stdout.split('\n').filter((file) => /^(\/usr)?\/s?bin\/[^/]+$/.test(file));
}

/** The fields of every installed package. */
async function query(...fields: string[]): Promise<string[][]> {
  const format = `${fields.map((field) => `\${${field}}`).join('\\t')}\\n`;
  const { stdout } = await execute('dpkg-query', ['-W', '-f', format], { maxBuffer: 50_000_000 });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.split('\t'));
}

/** The dependencies of each installed package; of alternatives, only installed ones count. */
async function dependencies(): Promise<Map<string, string[]>> {
  const packages = await query('Package', 'Pre-Depends', 'Depends');
  return new Map(packages.map(([name = '', ...lists]) => [name, lists.flatMap(namesIn)]));
}

function namesIn(list: string): string[] {
  return list
    .split(/[,|]/)
    .map((one) => one.trim().split(/[\s:(]/)[0] ?? '')
    .filter(Boolean);
}

async function linkPrograms(folder: string, files: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const file of files) await symlink(file, join(folder, basename(file))).catch(() => {});
}

/** The base image has Node and npm; this uses those that run the test. */
async function addNode(root: string, programs: string): Promise<void> {
  await cp(process.execPath, join(programs, 'node'));
  const { stdout } = await execute('npm', ['root', '--global']);
  const npm = join(stdout.trim(), 'npm');
  const copy = join(root, 'usr/local/lib/node_modules/npm');
  await cp(npm, copy, { recursive: true, dereference: true });
  for (const name of ['npm', 'npx']) await symlink(join(copy, `bin/${name}-cli.js`), join(programs, name));
}

/** Compiles like `npm run build`, with the dependencies of `npm ci --omit=dev`. */
export async function buildHub({ copies }: Image): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hub-app-')));
  await chmod(folder, 0o755);
  const sources = copies.filter(({ stage }) => stage === undefined).flatMap((each) => each.sources);
  // Installs do not use the search model.
  for (const source of sources.filter((name) => name !== 'models')) await copy(join(REPOSITORY, source), folder);
  await Promise.all([compile(join(folder, 'dist')), addDependencies(folder)]);
  return folder;
}

async function compile(folder: string): Promise<void> {
  const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc');
  const options = ['-p', 'tsconfig.build.json', '--outDir', folder, '--noCheck', '--sourceMap', 'false'];
  await execute(process.execPath, [tsc, ...options, '--declaration', 'false'], { cwd: REPOSITORY });
}

async function addDependencies(folder: string): Promise<void> {
  const { stdout } = await execute('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: REPOSITORY });
  const paths = stdout.split('\n').filter((path) => path.includes('/node_modules/') && !LEFT_OUT.test(path));
  // Nested packages are copied with their parents.
  const outer = paths.filter((path) => path.split('/node_modules/').length === 2);
  for (const path of new Set(outer)) {
    const to = join(folder, dirname(path.slice(path.indexOf('/node_modules/'))));
    await mkdir(to, { recursive: true });
    await copy(path, to);
  }
}

/** Hard-links files on the same filesystem, because most are never read. */
async function copy(from: string, into: string): Promise<void> {
  await execute('cp', ['-rl', from, into]).catch(() => execute('cp', ['-r', from, into]));
}

/** Every file and folder outside the given ones, with size and time of files. */
export async function listing(root: string, without: readonly string[]): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  const kept = paths.filter((path) => !without.some((folder) => `${path}/`.startsWith(`${folder}/`)));
  const lines = kept.map(async (path) => {
    const found = await stat(path).catch(() => undefined);
    return `${path} ${found?.isFile() ? `${found.size} ${found.mtimeMs}` : ''}`;
  });
  return (await Promise.all(lines)).sort();
}

/** A folder owned by the user of the hub. */
export async function giveFolder(folder: string, user: ImageFolder['user']): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  if (user) await chown(folder, user.uid, user.gid);
}
