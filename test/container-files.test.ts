// Dockerfile, .dockerignore, compose.yaml and .env.example agree with each other and with the settings.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { SETTINGS } from '../src/settings.ts';
import { readDockerfile } from '../test-container/dockerfile.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const settings = Object.keys(SETTINGS.shape);
const dockerfile = read('Dockerfile');
const image = readDockerfile(dockerfile);
const hub: { environment: Record<string, unknown>; env_file: unknown; volumes: string[] } = parse(read('compose.yaml'))
  .services.hub;

/** The container sets these; docs/operations.md says so. */
const FIXED = ['HOST', 'PORT', 'DATA_DIR'];

test('compose: .env reaches the hub, and no documented setting is hidden', () => {
  assert.deepEqual(hub.env_file, [{ path: '.env', required: false }]);
  const hidden = Object.entries(hub.environment)
    .filter(([name, value]) => settings.includes(name) && !String(value).startsWith(`\${${name}:`))
    .map(([name]) => name);
  assert.deepEqual(hidden, FIXED);
  const section = /## In a container\n(.+?)\n## /s.exec(read('docs/operations.md'))?.[1] ?? '';
  for (const name of FIXED) assert.match(section, new RegExp(`\`${name}\``));
});

test('compose: everything the container writes to is a volume', () => {
  const mounted = hub.volumes.map((volume) => volume.split(':')[1] ?? '');
  const folders = [image.env.HOME, image.env.INSTALL_ROOT, hub.environment.DATA_DIR, hub.environment.TMPDIR];
  for (const folder of folders)
    assert.ok(
      mounted.some((volume) => `${folder}/`.startsWith(`${volume}/`)),
      String(folder),
    );
});

test('.env.example: lists every setting, and nothing else', () => {
  const named = [...read('.env.example').matchAll(/^# ([A-Z][A-Z_]+)=/gm)].map(([, name]) => name);
  assert.deepEqual(named.toSorted(), [...settings, 'POSTGRES_PASSWORD'].toSorted());
});

test('Dockerfile: everything it copies exists and is not ignored', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );
  const allowed = read('.dockerignore')
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? line.slice(1) : []));
  assert.deepEqual([...new Set(copied)].toSorted(), allowed.toSorted());
  for (const source of copied) assert.ok(existsSync(new URL(`../${source}`, import.meta.url)), source);
});

test('Dockerfile: the hub does not run as root, and its environment has only known names', () => {
  assert.equal(image.user, 'node');
  const unknown = Object.keys(image.env).filter((name) => !settings.includes(name));
  assert.deepEqual(unknown, ['NODE_ENV', 'HOME']);
});
