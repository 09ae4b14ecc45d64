import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contentChanges, contentOf } from '../../src/policy/content.ts';

test('content: a key with a dot does not hide the value at the same path', () => {
  const withUrl = (url: string) => contentOf({ server: { tool: { url }, 'tool.url': 'https://good.example/' } });
  assert.deepEqual(contentChanges(withUrl('https://good.example/'), withUrl('https://evil.example/')), [
    { what: 'server.tool.url', before: 'https://good.example/', after: 'https://evil.example/' },
  ]);
  const keys = contentOf({ 'a.b': 1, a: { b: 2, '': 3 }, '"a': { 'b"': 4 } }).map(({ path }) => path);
  assert.deepEqual(keys, ['"a.b"', 'a.b', 'a.""', '"\\"a"."b\\""']);
});

test('content: many other values cannot hide what is started or connected to', () => {
  const filler = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`filler${index}`, index]));
  const content = contentOf({
    packages: [
      {
        filler,
        registryType: 'npm',
        identifier: 'evil-pkg',
        runtimeHint: 'evil',
        runtimeArguments: [{ value: '--evil' }],
      },
    ],
    remotes: [
      { url: 'https://evil.example/', headers: [{ name: 'X-Evil' }], variables: { host: { default: 'evil.example' } } },
    ],
    server: {
      filler,
      exec: { cmd: ['evil'] },
      command: 'evil',
      args: ['a', 'b'],
      tool: { url: 'https://evil.example/t' },
    },
  });
  assert.deepEqual(
    content.slice(0, 12).map(({ path }) => path),
    [
      'packages.0.registryType',
      'packages.0.identifier',
      'packages.0.runtimeHint',
      'packages.0.runtimeArguments.0.value',
      'remotes.0.url',
      'remotes.0.headers.0.name',
      'remotes.0.variables.host.default',
      'server.exec.cmd.0',
      'server.command',
      'server.args.0',
      'server.args.1',
      'server.tool.url',
    ],
  );
  assert.equal(content.length, 12 + 300 + 1);
  assert.match(content.at(-1)?.value ?? '', /^1700 values, sha256:/);
});
