import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aManifest } from '../support/builders.ts';
import { tempDir } from '../support/databases/databases.ts';
import { unusedAddress } from '../support/servers/unused-address.ts';
import { testBothWays } from './hubs.ts';
import { inTerminal, type Said } from './terminal/in-terminal.ts';

/** Parses stderr, which must be one line of JSON. */
function failureIn({ error, out }: Said): Record<string, unknown> {
  assert.match(error, /^\{.*\}\n$/);
  assert.equal(out, '');
  return JSON.parse(error) as Record<string, unknown>;
}

testBothWays('--json: refusals of the hub are JSON too', { manifests: [aManifest()] }, async (_t, reached) => {
  const said = await reached.hub('views', 'remove', 'nowhere', '--json');
  const { detail, request_id, status, ...failure } = failureIn(said);
  assert.equal(said.exitCode, 3);
  assert.deepEqual(failure, {
    type: 'urn:hub:problem:view_not_found',
    title: 'The requested item was not found.',
    code: 'view_not_found',
    error: 'view_not_found',
    exit_code: 3,
  });
  assert.match(String(detail), /nowhere/);
  const isServer = reached.way === 'against a server';
  assert.deepEqual([typeof request_id, status], isServer ? ['string', 404] : ['undefined', undefined]);
});

test('--json: a missing hub, catalog or token and a wrong setting keep their exit codes', async (t) => {
  const url = await unusedAddress();
  const nowhere = { DB_PATH: join(await tempDir(t), 'none.sqlite') };
  const cases = [
    { args: ['search', 'x', '--hub', url], environment: {}, exitCode: 5, code: 'unreachable' },
    { args: ['search', 'x'], environment: nowhere, exitCode: 3, code: 'not_found' },
    { args: ['doctor'], environment: { PORT: 'http' }, exitCode: 2, code: 'usage' },
    { args: ['pending', 'remove'], environment: nowhere, exitCode: 2, code: 'usage' },
  ];
  for (const { args, environment, exitCode, code } of cases) {
    const said = await inTerminal([...args, '--json'], { environment });
    const failure = failureIn(said);
    assert.deepEqual([said.exitCode, failure.code, failure.exit_code], [exitCode, code, exitCode], args.join(' '));
  }
});

const wrong = [
  { args: ['search', '--limit', 'many', '--json'], says: /--limit .*'many' is invalid\. It must be a whole number/ },
  { args: ['frobnicate', '--json'], says: /^unknown command 'frobnicate'/ },
  { args: ['completion', 'bash', '--json'], says: /^unknown option '--json'/ },
  { args: ['show', '--json'], says: /^missing required argument 'id'/ },
  { args: ['remotes', '--json'], says: /\w/ },
];
for (const { args, says } of wrong) {
  test(`hub ${args.join(' ')}: errors of the parser are JSON as well`, async () => {
    const said = await inTerminal(args);
    const { detail, code } = failureIn(said);
    assert.deepEqual([said.exitCode, code], [2, 'usage']);
    assert.match(String(detail), says);
  });
}

test('--json after --: is read as an ordinary argument', async (t) => {
  const environment = { DB_PATH: join(await tempDir(t), 'none.sqlite') };
  const { error } = await inTerminal(['search', '--', '--json'], { environment });
  assert.match(error, /^hub: No catalog/);
});
