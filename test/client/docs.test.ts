import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { readDemoCatalog } from '../../src/cli/demo.ts';
import { tempDir } from '../support/databases/databases.ts';
import { testHub } from '../support/hub.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const execute = promisify(execFile);

test('docs/client.md: its examples work unchanged against a hub with the sample catalog', async (t) => {
  const { hub, listen } = await testHub(t, { settings: { API_TOKEN: 'secret' } });
  await hub.load(await readDemoCatalog());
  const blocks = codeBlocks(await readFile(join(ROOT, 'docs/client.md'), 'utf8'));
  assert.ok(blocks.length >= 6);

  const folder = await packageFolder(await tempDir(t));
  const address = await listen();
  const program = join(folder, 'examples.mts');
  await writeFile(program, wholeProgram(blocks).replaceAll('http://127.0.0.1:8765', address));
  const { stdout } = await execute(process.execPath, [program], {
    cwd: folder,
    env: { PATH: process.env.PATH, HUB_TOKEN: 'secret' },
    timeout: 300_000,
  });
  const said = stdout.split('\n');
  assert.match(said[0] ?? '', /^version \S+ is ok$/);
  for (const expected of [
    /^mcp_server:.*pdf-tables/,
    /'1\.10\.0'/,
    /^entity_not_found No entity 'tool:nowhere@1\.0\.0'/,
    /^hybrid$/,
  ])
    assert.ok(
      said.some((line) => expected.test(line)),
      `${expected} in\n${stdout}`,
    );

  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { typeRoots: [join(ROOT, 'node_modules/@types')] },
      include: ['*.mts'],
    }),
  );
  await execute(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', folder], {
    timeout: 300_000,
  }).catch(({ stdout: faults }) => assert.fail(`The examples do not compile:\n${faults}`));
});

function codeBlocks(page: string): string[] {
  return [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
}

/** Puts each example into a separate block, because names repeat; all share what the first one creates. */
function wholeProgram([first = '', ...others]: string[]): string {
  const imports = others.flatMap((code) => code.match(/^import .*$/gm) ?? []);
  const bodies = others.map((code) => `{\n${code.replace(/^import .*\n/gm, '')}}\n`);
  return [...imports, first, ...bodies].join('\n');
}

/** A folder where the package resolves by name, as after an install, to the client of the source. */
async function packageFolder(folder: string): Promise<string> {
  const installed = join(folder, 'node_modules/catalog-hub');
  await mkdir(installed, { recursive: true });
  const client = join(ROOT, 'src/client/hub-client.ts');
  const exported = { './client': { types: './client.d.ts', default: './client.js' } };
  await writeFile(
    join(installed, 'package.json'),
    JSON.stringify({ name: 'catalog-hub', type: 'module', exports: exported }),
  );
  await writeFile(join(installed, 'client.js'), `export * from ${JSON.stringify(pathToFileURL(client).href)};\n`);
  await writeFile(join(installed, 'client.d.ts'), `export * from ${JSON.stringify(client)};\n`);
  return folder;
}
