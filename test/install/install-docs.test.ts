// docs/install.md, docs/lockfile.md and docs/security.md name only what exists.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CLIENTS } from '../../src/catalog/client-config.ts';
import { LockedArtifact, LockedEntity, Lockfile } from '../../src/install/contract.ts';

const read = (name: string) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
const pages = ['install', 'lockfile', 'security'].map((name) => ({ name, text: read(name) }));

test('security.md: every test that it names exists', () => {
  const files = globSync('test/**/*.test.ts');
  const named = [...read('security').matchAll(/`([\w/.-]+\.test\.ts)`/g)].map(([, path = '']) => path);
  assert.ok(named.length > 20);
  assert.deepEqual(
    named.filter((path) => !files.some((file) => file === path || file.endsWith(`/${path}`))),
    [],
  );
});

test('install pages: every command and option that they name is one of the command line', () => {
  const reference = read('cli');
  for (const { name, text } of pages) {
    const lines = [...text.matchAll(/(?:^\$ |^|`)(hub [a-z]+[^`\n]*)/gm)].map(([, line = '']) => line);
    for (const line of lines) {
      const [command = ''] = /^hub [a-z]+/.exec(line) ?? [];
      assert.match(reference, new RegExp(`^### ${command}\\b`, 'm'), `${name}: ${line}`);
      for (const option of line.match(/--[a-z-]+/g) ?? [])
        assert.ok(reference.includes(`\`${option}`), `${name}: ${line}`);
    }
  }
});

test('install.md: every client is in the table', () => {
  const rows = [...read('install').matchAll(/^\| `(\w+)` \| (?:`\.(?!hub)|Printed)/gm)].map(([, client]) => client);
  assert.deepEqual(rows.toSorted(), CLIENTS.toSorted());
});

test('lockfile.md: the example is a lockfile, and every field is explained', () => {
  const text = read('lockfile');
  const example = JSON.parse(/```json\n(.+?)```/s.exec(text)?.[1] ?? '');
  assert.equal(JSON.stringify(Lockfile.parse(example)), JSON.stringify(example));
  const fields = [LockedEntity, LockedArtifact, LockedEntity.shape.provenance].flatMap(({ shape }) =>
    Object.keys(shape),
  );
  for (const field of fields) assert.match(text, new RegExp(`^\\|.*\`${field}\`.*\\|`, 'm'), field);
});
