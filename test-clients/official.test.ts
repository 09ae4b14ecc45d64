// The same servers in the hub and in the official registry, and the same calls to both: every difference must be known.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { answerOf, compared, type Difference, walk } from './compare.ts';
import { installClients } from './install-clients.ts';
import { KNOWN } from './known-differences.ts';
import { startOfficialRegistry } from './official-registry.ts';
import { PUBLISHING } from './publishing-calls.ts';
import { manifests, servedHub } from './served-hub.ts';
import { DELETED, DEPRECATED, SERVERS } from './servers.ts';

const LIST = '/v0.1/servers';
const versions = (name: string, rest = '') => `${LIST}/${encodeURIComponent(name)}/versions${rest}`;
const NOTES = versions('org.example.notes/notes');
const SINCE = 'updated_since=2026-01-01T00:00:00Z';
const CALLS = [
  ...['', '?limit=100&version=latest', '?version=1.0.0&limit=3', '?version=9.9.9', '?unknown=1&limit=1'].map(
    (query) => `${LIST}${query}`,
  ),
  ...['notes', 'NOTES', 'no', 'team', '%20%20', 'station-0', '%25%25%25', '___'].map(
    (text) => `${LIST}?limit=100&search=${text}`,
  ),
  ...['include_deleted=true', 'include_deleted=false', SINCE, `${SINCE}&include_deleted=false`].map(
    (query) => `${LIST}?limit=100&${query}`,
  ),
  ...['updated_since=2126-01-01T00:00:00Z', 'updated_since=yesterday', 'limit=0', 'limit=101', 'limit=ten'].map(
    (query) => `${LIST}?${query}`,
  ),
  ...[
    'limit=',
    'include_deleted=',
    'include_deleted=1',
    'include_deleted=maybe',
    'cursor=',
    'version=',
    'limit=05',
  ].map((query) => `${LIST}?${query}`),
  ...['limit=5&limit=6', 'search=notes&search=team', 'cursor=abc', 'cursor=a/b:1.0.0', 'version=LATEST'].map(
    (query) => `${LIST}?${query}`,
  ),
  ...['2026-01-01', '2026-02-30T00:00:00Z', '2026-01-01T00:00:00', '2026-01-01T02:00:00%2B02:00'].map(
    (date) => `${LIST}?limit=100&updated_since=${date}`,
  ),
  ...['', '/latest', '/1.9.0', '/9.9.9'].map((rest) => `${NOTES}${rest}`),
  ...['%2f', '%252F', '/'].map((slash) => NOTES.replace('%2F', slash)),
  ...['', '/latest'].map((rest) => versions('org.example.notes/unknown', rest)),
  versions('io.github.Example/Tool'),
  versions('io.github.example/tool'),
  versions('io.github.example/branches', '/refs%2Fheads%2Fmain'),
  versions('io.github.example/branches', '/latest'),
  ...['%2B', '+', '%252B'].map((plus) => versions('io.github.example/built', `/1.0.0${plus}0.7.1`)),
  ...['%00', '%ZZ', '%20'].map((name) => `${LIST}/${name}/versions`),
  versions('io.github.example/dated', '/latest'),
  versions(`io.github.example/${'n'.repeat(182)}`, '/1.0.0'),
  versions(DEPRECATED.name, '/1.0.0'),
  ...['', '/latest', '/1.0.0', '?include_deleted=true', '/1.0.0?include_deleted=true'].map((rest) =>
    versions(DELETED.name, rest),
  ),
  ...['/v0/servers?limit=100', '/v0/servers/org.example.notes%2Fnotes', '/v0/health', '/v0/ping'],
  ...['/v0.1/health', '/v0.1/ping', '/v0.1/version', '/v0.1/nothing', '/v0.1/servers/', '/v0.1/publish'],
].map((path) => `GET ${path}`);

const missing = (await installClients()).get('go');

describe('the official registry', { skip: missing ?? false }, () => {
  test('official: the same calls get the same responses, apart from known differences', async (t) => {
    const official = await startOfficialRegistry(t);
    for (const server of SERVERS) await official.publish(server);
    const { statusMessage } = DEPRECATED;
    await official.setStatus(DEPRECATED, { status: 'deprecated', statusMessage });
    const { hub, url } = await servedHub(t);
    await hub.addRemote(`${official.url}${LIST}?limit=100`);
    await hub.syncRemotes();
    await answerOf(url, `GET ${LIST}`);
    // It was listed before; the hub learns about its deletion from the list of changes.
    await official.setStatus(DELETED, { status: 'deleted' });
    await hub.syncRemotes();

    const found: Difference[] = [];
    for (const call of [
      ...CALLS,
      `OPTIONS ${LIST}`,
      'OPTIONS /v0.1/publish',
      `DELETE ${NOTES}/1.0.0`,
      `POST ${LIST}`,
    ]) {
      const [ours, theirs] = await Promise.all([answerOf(url, call), answerOf(official.url, call)]);
      found.push(...compared(call, ours, theirs));
    }

    const unknown = found.filter((each) => !KNOWN.some(({ covers }) => covers(each)));
    assert.deepEqual(unknown, []);
    const notSeen = KNOWN.filter(({ covers }) => !found.some(covers)).map(({ here }) => here);
    assert.deepEqual(notSeen, [], 'known differences that no longer exist');
    assert.deepEqual(await walk(`${url}${LIST}?limit=7`), await walk(`${official.url}${LIST}?limit=7`));
  });

  test('official: the same documents are accepted or refused, apart from known differences', async (t) => {
    const official = await startOfficialRegistry(t);
    const { url } = await servedHub(t, { settings: { API_TOKEN: 'a-token-of-the-tester' } });
    const headers = { authorization: 'Bearer a-token-of-the-tester', 'content-type': 'application/json' };
    for (const { what, method = 'POST', path = '/v0/publish', body, answers, here } of PUBLISHING) {
      const { status } = await fetch(`${url}${path}`, { method, headers, body: JSON.stringify(body) });
      assert.deepEqual([status, await official.send(method, path, body)], answers, what);
      assert.equal(here !== undefined, answers[0] !== answers[1], `${what}: listed in the documentation`);
    }
  });

  test('official: imports the whole list of the hub', async (t) => {
    const { url } = await servedHub(t, { manifests: manifests() });
    const official = await startOfficialRegistry(t, { MCP_REGISTRY_SEED_FROM: `${url}/v0/servers` });
    assert.deepEqual(
      await walk(`${official.url}${LIST}?limit=50`),
      await walk(`${url}${LIST}?limit=50`),
      official.log(),
    );
  });
});

test('docs: list the differences from the official registry', async () => {
  const page = await readFile(join(import.meta.dirname, '../docs/registry.md'), 'utf8');
  const [, table = ''] = page.split('## Differences from the official registry');
  const rows = table.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| Here'));
  assert.deepEqual(
    rows.map((row) => row.split('|')[1]?.trim()),
    [...KNOWN.map(({ here }) => here), ...PUBLISHING.flatMap(({ here }) => here ?? [])],
  );
});
