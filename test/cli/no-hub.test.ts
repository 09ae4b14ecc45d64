import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { inTerminal } from './terminal/in-terminal.ts';

/** Another server that gives the same response to everything. */
async function startOtherServer(t: TestContext, body: string): Promise<string> {
  const server = createServer((_request, response) => void response.end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const COMMANDS = [
  ['search'],
  ['search', 'pdf', '--json'],
  ['show', 'tool:a@1'],
  ['show', 'tool:a@1', '--manifest'],
  ['remotes', 'list'],
  ['remotes', 'rejections'],
  ['pending', 'list', '--json'],
  ['export'],
  ['sync'],
  ['install', 'tool:a@1', '--target', 'a', '--dry-run'],
];
for (const args of COMMANDS) {
  test(`hub ${args.join(' ')}: reports a server that is not a hub, with exit code 5`, async (t) => {
    for (const body of ['{}', '[]', '{"items":5,"total":0}', '<!doctype html><p>Hello']) {
      const url = await startOtherServer(t, body);
      const { exitCode, out, error } = await inTerminal([...args, '--hub', url]);
      assert.deepEqual([exitCode, out], [5, ''], `${body}: ${error}`);
      assert.match(
        error,
        /The hub at \S+ (returned JSON that is not a hub response|returned something that is not JSON)/,
      );
    }
  });
}
