import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installCommand } from '../../web/src/entity/use/install-command.ts';
import { shellWord } from '../../web/src/entity/use/shell.ts';

const pdf = { id: 'mcp_server:pdf-tables@1.0.0' };
const origin = 'https://hub.example';

test('commands: an install names the id of the entry, the hub and the client', () => {
  const named = 'hub install mcp_server:pdf-tables@1.0.0 --hub https://hub.example';
  assert.equal(installCommand(pdf, { origin, client: 'claude' }), `${named} --client claude`);
  assert.equal(installCommand(pdf, { origin }), named);
});

test('commands: an entry whose id is unsafe in a shell has no command', () => {
  for (const slug of ['a$(b)', 'a`b`', 'a"b', '100%PATH%', 'a!b', 'a\nb', 'a”;b', 'a\\'])
    assert.equal(installCommand({ id: `tool:${slug}@1` }, { origin }), undefined, slug);
  assert.equal(installCommand(pdf, { origin: 'http://$(a).example' }), undefined);
});

test('commands: special characters are in double quotes, which all shells support', () => {
  assert.equal(shellWord('mcp_server:a/b@1.0.0'), 'mcp_server:a/b@1.0.0');
  for (const word of ["tool:a';rm@1", 'tool:a&b@1', '@scope/a@1', 'PDF Tables@1', 'http://[::1]:8765', '~', 'Über@1'])
    assert.equal(shellWord(word), `"${word}"`);
});
