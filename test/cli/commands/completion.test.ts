import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { COMMAND_TABLE } from '../../../src/cli/command-table.ts';
import { createAccess } from '../../../src/cli/hub/reach-hub.ts';
import type { Output } from '../../../src/cli/output/output.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { unlessHere } from '../../support/programs.ts';
import { localSettings, WITHOUT_MODEL } from '../hubs.ts';
import { inTerminal, terminalOf } from '../terminal/in-terminal.ts';

const execute = promisify(execFile);

for (const shell of ['bash', 'zsh', 'fish']) {
  test(`completion ${shell}: is valid shell code`, { skip: unlessHere(shell) }, async (t) => {
    await execute(shell, ['-n', await scriptFor(t, shell)]);
  });
}

test('completion: refuses an unknown shell', async () => {
  const { exitCode, error } = await inTerminal(['completion', 'powershell']);
  assert.equal(exitCode, 2);
  assert.match(error, /Allowed choices are bash, zsh, fish/);
});

const typed: { words: string[]; offers: string[]; not?: string[] }[] = [
  { words: [''], offers: ['search', 'remotes', 'completion'], not: ['rejections', 'complete', '--json'] },
  { words: ['re'], offers: ['remotes', 'remove'], not: ['search'] },
  { words: ['remotes', ''], offers: ['list', 'add', 'remove'], not: ['search'] },
  { words: ['search', '--t'], offers: ['--type', '--transports'], not: ['--limit'] },
  { words: ['search', 'pdf', '--type', ''], offers: ['agent', 'tool', 'mcp_server'], not: ['--type'] },
  { words: ['search', '-m', 'se'], offers: ['semantic'], not: ['hybrid'] },
  { words: ['pending', 'remove', '--'], offers: ['--all', '--error-only', '--hub', '--json'] },
  { words: ['completion', ''], offers: ['bash', 'zsh', 'fish'] },
  { words: ['--'], offers: ['--help', '--version'], not: ['search', '--json'] },
  { words: ['-'], offers: ['-h', '-V'] },
  { words: ['remotes', '--'], offers: ['--help'], not: ['--version'] },
  { words: ['backup', ''], offers: [], not: ['--force'] },
  { words: ['backup', '-'], offers: ['--force'] },
  { words: ['install', '--fo'], offers: ['--force'] },
  { words: ['install', 'time', '--client=c'], offers: ['--client=claude'], not: ['claude', '--client=vscode'] },
];
for (const { words, offers, not = [] } of typed) {
  test(`complete: 'hub ${words.join(' ')}' and tab`, async () => {
    const { out } = await inTerminal(['complete', '--', ...words]);
    const offered = out.split('\n').map((line) => line.split('\t')[0] ?? '');
    for (const word of offers) assert.ok(offered.includes(word), `${word} in ${offered.join(' ')}`);
    for (const word of not) assert.ok(!offered.includes(word), `${word} in ${offered.join(' ')}`);
  });
}

test('complete: describes commands and options', async () => {
  assert.match((await inTerminal(['complete', '--', 'searc'])).out, /^search\tfind agents, tools and MCP servers/);
  assert.match((await inTerminal(['complete', '--', 'search', '--typ'])).out, /^--type\tonly this type\n$/);
});

/** Stands in for `hub complete`: answers with the words that it got. */
const PROGRAM = '#!/bin/sh\nshift 2\nfor last; do :; done\nprintf "%s\\t%s\\nurl:x\\n" "$last-$#" "a b: c"\n';
const MARK = '--- the next line ---';

test('completion bash: offers words, and the part of an id after its colon', {
  skip: unlessHere('bash'),
}, async (t) => {
  const lines = [
    { words: ['remotes', 're'] },
    { words: ['show', ''] },
    { words: ['show', 'tool', ':', 'cl'] },
    { words: ['show', 'tool', ':', 'clock', '@', '1.'] },
    { words: ['install', 'time', '--client', '=', 'c'] },
  ];
  const outputs = (await inBash(t, lines)).split(`${MARK}\n`).map((each) => each.split('\n')[0]);
  assert.deepEqual(outputs, ['re-2', '-2', 'cl-2', '1.-2', 'c-3', '']);
});

test('completion zsh: offers words with their descriptions', { skip: unlessHere('zsh') }, async (t) => {
  const lines = [{ words: ['remotes', 're'] }, { words: [''] }];
  const second = '-1:a b\\: c\nurl\\:x\n';
  assert.equal(await inZsh(t, lines), `re-2:a b\\: c\nurl\\:x\n${MARK}\n${second}${MARK}\n`);
});

test('completion fish: offers words with their descriptions', { skip: unlessHere('fish') }, async (t) => {
  assert.match(await inFish(t, [{ words: ['remotes', 're'] }]), /^re-2\ta b: c$/m);
});

const named: { words: string[]; prints: string }[] = [
  { words: ['show', 'clo'], prints: 'clock\n' },
  { words: ['install', 'io.example/clo'], prints: 'io.example/clock\n' },
  { words: ['show', 'none-such'], prints: '' },
  { words: ['show', 'ti'], prints: 'ticket-lane\ntime\n' },
  { words: ['show', 'mcp_server:ti'], prints: 'mcp_server:ticket-lane@1.0.0\n' },
  { words: ['block', 'mcp_server:cl'], prints: 'mcp_server:clock@1.0.0\n' },
  { words: ['remove', 'mcp_server:ti'], prints: 'mcp_server:ticket-lane@1.0.0\n' },
  { words: ['remove', 'clo'], prints: 'mcp_server:clock@1.0.0\n' },
  { words: ['approve', 'ti'], prints: 'mcp_server:io.example/time@1.0.0\nmcp_server:ticket-lane@1.0.0\n' },
  { words: ['pending', 'remove', 'dan'], prints: 'mcp_server:danger@1.0.0\n' },
  { words: ['show', 'dan'], prints: 'danger\n' },
  { words: ['remotes', 'remove', 'te'], prints: 'team\n' },
  { words: ['views', 'remove', 'sa'], prints: 'safe\n' },
  { words: ['tokens', 'remove', 'bu'], prints: 'build\n' },
  { words: ['webhooks', 'test', 'ch'], prints: 'chat\n' },
  { words: ['uninstall', ''], prints: '' },
];
test('complete: offers all kinds of names that a shell can use', async (t) => {
  const { hub, listen } = await testHub(t, { settings: { ...WITHOUT_MODEL, API_TOKEN: 'the-admin' } });
  const manifests = [
    aManifest({ id: 'clock', name: 'io.example/clock' }),
    aManifest({ id: 'io.example/time', name: 'io.example/time' }),
    aManifest({ id: 'ticket-lane', name: 'ticket-lane' }),
    aManifest({ id: 'danger', name: 'danger$(touch)' }),
  ];
  await hub.load(manifests.map((document) => ({ document })));
  await hub.saveView({ name: 'safe', names: [], approved: true, description: '' });
  await hub.createToken({ name: 'build', role: 'reader', scope: [] });
  await hub.addWebhook({ name: 'chat', url: 'https://receiver.example.org/hub', events: ['sync.finished'] });
  await hub.addRemote('https://catalog.example.org/index.json', { name: 'team' });
  const environment = { HUB_URL: await listen(), HUB_TOKEN: 'the-admin' };
  for (const { words, prints } of named) {
    const { exitCode, out, error } = await inTerminal(['complete', '--', ...words], { environment });
    assert.deepEqual({ exitCode, out, error }, { exitCode: 0, out: prints, error: '' }, words.join(' '));
  }
});

test('complete: without a catalog prints no names and creates none', async (t) => {
  const folder = await tempDir(t);
  const environment = { DB_PATH: join(folder, 'catalog.sqlite') };
  const completed = await inTerminal(['complete', '--', 'show', 'a'], { environment });
  assert.deepEqual(completed, { exitCode: 0, out: '', error: '' });
  assert.deepEqual(await readdir(folder), []);
});

test('complete: opens a local catalog like other commands, whose searches wait for the index', async (t) => {
  let out = '';
  const write = (text: string) => {
    out += text;
  };
  const terminal = terminalOf({ environment: await localSettings(t, { manifests: [aManifest()] }), write });
  const opened = createAccess({ named: undefined, terminal });
  t.after(() => opened.close());
  const access = { ...opened, findLocal: () => assert.fail('its searches do not wait') };
  const call = { args: ['show', 'pdf'], options: {}, terminal, output: {} as Output, access, table: COMMAND_TABLE };
  await COMMAND_TABLE.commands.find(({ path }) => path[0] === 'complete')?.run(call);
  assert.equal(out, 'pdf-tables\n');
});

/** The environment of a shell with a `hub` on its PATH. */
async function withHub(t: TestContext): Promise<{ PATH: string }> {
  const folder = await tempDir(t);
  await writeFile(join(folder, 'hub'), PROGRAM, { mode: 0o755 });
  return { PATH: `${folder}:${process.env.PATH}` };
}

async function scriptFor(t: TestContext, shell: string): Promise<string> {
  const script = join(await tempDir(t), `completion.${shell}`);
  await writeFile(script, (await inTerminal(['completion', shell])).out);
  return script;
}

type Line = { words: string[] };
const quoted = ({ words }: Line) => ['hub', ...words].map((word) => `'${word}'`).join(' ');

/** Calls the completion as bash does: with the words of each line, the last one incomplete. */
async function inBash(t: TestContext, typedLines: readonly Line[]): Promise<string> {
  const calls = typedLines.map(
    (line) =>
      `COMPREPLY=(); COMP_WORDS=(${quoted(line)}); COMP_CWORD=${line.words.length}; _hub; printf '%s\\n' "\${COMPREPLY[@]}"; echo '${MARK}'`,
  );
  const program = [`source '${await scriptFor(t, 'bash')}'`, ...calls].join('\n');
  return (await execute('bash', ['--norc', '-c', program], { env: await withHub(t) })).stdout;
}

/** Calls the completion as zsh does. Its builtins work only while somebody types, so functions print the candidates. */
async function inZsh(t: TestContext, typedLines: readonly Line[]): Promise<string> {
  const calls = typedLines.map(
    (line) =>
      `words=(${quoted(line)}); CURRENT=${line.words.length + 1}; PREFIX="\${words[-1]}"; _hub; print -r -- '${MARK}'`,
  );
  const program = [
    `compdef() { : }; _files() { : }; _describe() { print -rl -- "\${(@P)2}" }`,
    `source '${await scriptFor(t, 'zsh')}'`,
    ...calls,
  ].join('\n');
  return (await execute('zsh', ['-f', '-c', program], { env: await withHub(t) })).stdout;
}

async function inFish(t: TestContext, typedLines: readonly Line[]): Promise<string> {
  const calls = typedLines.map(({ words }) => `complete -C 'hub ${words.join(' ')}'; echo '${MARK}'`);
  const program = [`source '${await scriptFor(t, 'fish')}'`, ...calls].join('\n');
  // Starts without the user's settings.
  const env = { ...(await withHub(t)), HOME: '/nowhere' };
  return (await execute('fish', ['--no-config', '-c', program], { env })).stdout;
}
