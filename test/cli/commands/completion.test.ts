import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { COMMAND_TABLE } from '../../../src/cli/command-table.ts';
import { completedCommands } from '../../../src/cli/completion/words.ts';
import { aManifest } from '../../support/builders.ts';
import { tempDir } from '../../support/databases/databases.ts';
import { testHub } from '../../support/hub.ts';
import { unlessHere } from '../../support/programs.ts';
import { WITHOUT_MODEL } from '../hubs.ts';
import { inTerminal } from '../terminal/in-terminal.ts';

const execute = promisify(execFile);

const SHELLS = ['bash', 'zsh', 'fish'];
for (const shell of SHELLS) {
  test(`completion ${shell}: contains every command and option`, async () => {
    const { exitCode, out } = await inTerminal(['completion', shell]);
    assert.equal(exitCode, 0);
    for (const { line, options } of completedCommands(COMMAND_TABLE)) {
      assert.ok(out.includes(line), line);
      for (const { long } of options) assert.ok(out.includes(shell === 'fish' ? `-l ${long.slice(2)}` : long), long);
    }
  });

  test(`completion ${shell}: is valid shell code`, { skip: unlessHere(shell) }, async (t) => {
    const script = join(await tempDir(t), 'completion');
    await writeFile(script, (await inTerminal(['completion', shell])).out);
    await execute(shell, ['-n', script]);
  });
}

test('completion: refuses an unknown shell', async () => {
  const { exitCode, error } = await inTerminal(['completion', 'powershell']);
  assert.equal(exitCode, 2);
  assert.match(error, /Allowed choices are bash, zsh, fish/);
});

const typed: { words: string[]; offers: string[]; not?: string[] }[] = [
  { words: [''], offers: ['search', 'remotes', 'completion'], not: ['rejections', 'names', '--json'] },
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
  { words: ['install', 'cl'], offers: ['cl-of-entities'], not: ['--force'] },
  { words: ['install', '--fo'], offers: ['--force'], not: ['cl-of-entities'] },
  { words: ['uninstall', 'cl'], offers: ['cl-of-installed'] },
  { words: ['remotes', 'remove', 'cl'], offers: ['cl-of-remotes'] },
  { words: ['views', 'remove', 'cl'], offers: ['cl-of-views'] },
  { words: ['tokens', 'remove', 'cl'], offers: ['cl-of-tokens'] },
  { words: ['webhooks', 'test', 'cl'], offers: ['cl-of-webhooks'] },
  { words: ['block', 'cl'], offers: ['cl-of-ids'] },
];
/** Stands in for the `hub` that completion scripts call for names. */
const NAMES_PROGRAM = '#!/bin/sh\n[ "$1" = names ] && echo "$3-of-$2"\n';
const MARK = '--- the next line ---';
for (const [shell, complete] of Object.entries({ bash: inBash, zsh: inZsh, fish: inFish })) {
  test(`completion ${shell}: offers what can follow`, { skip: unlessHere(shell) }, async (t) => {
    const outputs = (await complete(t, typed)).split(`${MARK}\n`);
    for (const [index, { words, offers, not = [] }] of typed.entries()) {
      await t.test(`'hub ${words.join(' ')}' and tab`, () => {
        const offered = offeredIn(outputs[index] ?? '', shell, words.at(-1) ?? '');
        for (const word of offers) assert.ok(offered.includes(word), `${word} in ${offered.join(' ')}`);
        for (const word of not) assert.ok(!offered.includes(word), `${word} in ${offered.join(' ')}`);
      });
    }
  });
}

test('completion zsh: a candidate without a description is listed alone', { skip: unlessHere('zsh') }, async (t) => {
  assert.equal(await inZsh(t, [{ words: ['completion', ''] }]), `bash\nzsh\nfish\n${MARK}\n`);
});

test('completion bash: completes the part of an id after its colon, and its version', {
  skip: unlessHere('bash'),
}, async (t) => {
  const lines = [
    { words: ['show', 'tool', ':', 'cl'] },
    { words: ['show', 'tool', ':'] },
    { words: ['show', 'tool', ':', 'clock', '@', '1.'] },
    { words: ['show', '--hub', 'http', ':', '//'] },
  ];
  assert.equal(
    await inBash(t, lines),
    `cl-of-entities\n${MARK}\n-of-entities\n${MARK}\n1.-of-entities\n${MARK}\n\n${MARK}\n`,
  );
});

const named: { args: string[]; prints: string }[] = [
  { args: ['names', 'entities', 'clo'], prints: 'clock\n' },
  { args: ['names', 'entities', 'io.example/clo'], prints: 'io.example/clock\n' },
  { args: ['names', 'entities', 'none-such'], prints: '' },
  { args: ['names', 'entities', 'ti'], prints: 'ticket-lane\ntime\n' },
  { args: ['names', 'entities', 'mcp_server:ti'], prints: 'mcp_server:ticket-lane@1.0.0\n' },
  { args: ['names', 'ids', 'mcp_server:cl'], prints: 'mcp_server:clock@1.0.0\n' },
  { args: ['names', 'entities', 'dan'], prints: 'danger\n' },
  { args: ['names', 'remotes', 'te'], prints: 'team\n' },
  { args: ['names', 'views', 'sa'], prints: 'safe\n' },
  { args: ['names', 'tokens', 'bu'], prints: 'build\n' },
  { args: ['names', 'webhooks', 'ch'], prints: 'chat\n' },
  { args: ['names', 'installed'], prints: '' },
];
test('names: lists all kinds of names that a shell can use', async (t) => {
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
  for (const { args, prints } of named) {
    const { exitCode, out, error } = await inTerminal(args, { environment });
    assert.deepEqual({ exitCode, out, error }, { exitCode: 0, out: prints, error: '' }, args.join(' '));
  }
});

test('names: without a catalog prints nothing and creates none', async (t) => {
  const folder = await tempDir(t);
  const environment = { DB_PATH: join(folder, 'catalog.sqlite') };
  assert.deepEqual(await inTerminal(['names', 'entities', 'a'], { environment }), { exitCode: 0, out: '', error: '' });
  assert.deepEqual(await readdir(folder), []);
});

/** The environment of a shell with a `hub` on its PATH that lists names. */
async function withNames(t: TestContext): Promise<{ PATH: string }> {
  const folder = await tempDir(t);
  await writeFile(join(folder, 'hub'), NAMES_PROGRAM, { mode: 0o755 });
  return { PATH: `${folder}:${process.env.PATH}` };
}

async function scriptFor(t: TestContext, shell: string): Promise<string> {
  const script = join(await tempDir(t), `completion.${shell}`);
  await writeFile(script, (await inTerminal(['completion', shell])).out);
  return script;
}

/** Zsh offers every candidate, with a description, and filters them itself; fish adds a description. */
function offeredIn(output: string, shell: string, typedWord: string): string[] {
  const offered = output.split('\n').filter(Boolean);
  if (shell === 'bash') return offered;
  if (shell === 'fish') return offered.map((each) => each.split('\t')[0] ?? '');
  return offered.map((each) => each.replace(/:.*/, '')).filter((word) => word.startsWith(typedWord));
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
  return (await execute('bash', ['--norc', '-c', program], { env: await withNames(t) })).stdout;
}

/** Calls the completion as zsh does. Its builtins work only while somebody types, so functions print the candidates. */
async function inZsh(t: TestContext, typedLines: readonly Line[]): Promise<string> {
  const calls = typedLines.map(
    (line) =>
      `words=(${quoted(line)}); CURRENT=${line.words.length + 1}; PREFIX="\${words[-1]}"; _hub; print -r -- '${MARK}'`,
  );
  const program = [
    `compdef() { : }; _files() { : }; compadd() { shift; print -l -- "$@" }; _describe() { print -l -- "\${(@P)2}" }`,
    `source '${await scriptFor(t, 'zsh')}'`,
    ...calls,
  ].join('\n');
  return (await execute('zsh', ['-f', '-c', program], { env: await withNames(t) })).stdout;
}

async function inFish(t: TestContext, typedLines: readonly Line[]): Promise<string> {
  const calls = typedLines.map(({ words }) => `complete -C 'hub ${words.join(' ')}'; echo '${MARK}'`);
  const program = [`source '${await scriptFor(t, 'fish')}'`, ...calls].join('\n');
  // Starts without the user's settings.
  const env = { ...(await withNames(t)), HOME: '/nowhere' };
  return (await execute('fish', ['--no-config', '-c', program], { env })).stdout;
}
