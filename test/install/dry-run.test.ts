// A dry run reports the same as the install that follows: each case runs both.
import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { InstallReport } from '../../src/install/contract.ts';
import { treeDigest } from '../../src/install/target/tree.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { aManifest } from '../support/builders.ts';
import { startIndexServer } from '../support/servers/index-server.ts';
import { rawZip } from './artifacts/raw-archives.ts';
import { type InstallStage, installHub, installStage } from './installing.ts';

interface Case {
  /** Whether an earlier version is installed. */
  isInstalled?: boolean;
  /** Files that the user then writes, in Latin-1. */
  files?: Record<string, string>;
  arrange?(stage: InstallStage): Promise<unknown>;
  fields?: JsonObject;
  says: RegExp;
  ok?: boolean;
}

const [CODEX, FORCE] = [{ clients: ['codex'] }, { force: true }];
const FROZEN = { frozen: true, clients: undefined };
const CHANGED_FOLDER = { isInstalled: true, files: { 'vendor/thing/mine.txt': 'mine' } };
const ANOTHER_ENTRY = {
  files: { '.mcp.json': '{"mcpServers": {"pdf-tables": {"type": "stdio", "command": "mine"}}}' },
};
const CHANGED_ENTRY = { isInstalled: true, ...ANOTHER_ENTRY };
const ENTRY = "The entry 'pdf-tables' of '\\.mcp\\.json' has changed since it was installed";

const CASES: Record<string, Case> = {
  'a changed folder': {
    ...CHANGED_FOLDER,
    says: /'vendor\/thing' has changed since .* left as it is\. .* --dest.* --force/,
  },
  'a changed folder and --frozen': {
    ...CHANGED_FOLDER,
    fields: FROZEN,
    says: /'vendor\/thing' has changed since .* --force/,
  },
  'a changed folder and --force': {
    ...{ ...CHANGED_FOLDER, fields: FORCE, ok: true },
    says: /'vendor\/thing' has changed since it was installed, and is replaced because of --force/,
  },
  'files in the chosen folder': {
    ...{ files: { 'lib/thing/mine.txt': 'mine' }, fields: { dest: 'lib/thing' } },
    says: /'lib\/thing' contains files that the hub did not put there, so it is left as it is\. .* --dest.* --force/,
  },
  'files in the usual folder': {
    ...{ files: { 'vendor/thing/mine.txt': 'mine' }, ok: true },
    says: /'vendor\/thing' is taken, so 'vendor\/127\.0\.0\.1-thing' is used/,
  },
  'a link in the path of the folder': {
    ...{ files: { 'lib/x': '' }, arrange: ({ target }) => symlink('lib', join(target, 'own')) },
    ...{ fields: { dest: 'own/thing' }, says: /'own\/thing' goes through a link/ },
  },
  'an entry of the same name': {
    ...ANOTHER_ENTRY,
    ok: true,
    says: /another 'pdf-tables', so the entry is named 'pdf-tables-2'/,
  },
  'a changed entry': { ...CHANGED_ENTRY, ok: true, says: new RegExp(`${ENTRY}, and is left as it is`) },
  'a changed entry and --frozen': {
    ...CHANGED_ENTRY,
    fields: FROZEN,
    says: new RegExp(`${ENTRY}. Install without --frozen`),
  },
  'a changed entry and --force': {
    ...CHANGED_ENTRY,
    fields: FORCE,
    ok: true,
    says: new RegExp(`${ENTRY}, and is replaced`),
  },
  'not UTF-8': { files: { '.mcp.json': '{"mcpServers": {"a": {"command": "caf\xe9"}}}' }, says: /is not UTF-8/ },
  comments: { files: { '.mcp.json': '{\n  // mine\n  "mcpServers": {}\n}\n' }, says: /not accept comments\. Fix it/ },
  'a list of servers': { files: { '.mcp.json': '{"mcpServers": []}' }, says: /'mcpServers' in it is not an object/ },
  'invalid TOML': { files: { '.codex/config.toml': 'model = "x\n' }, fields: CODEX, says: /it is not valid TOML/ },
  'TOML without tables': {
    ...{ files: { '.codex/config.toml': 'mcp_servers = { a = { command = "b" } }\n' }, fields: CODEX },
    says: /is not written as tables/,
  },
  'glue code of the user': {
    files: { 'glue.py': '# mine' },
    says: /'glue\.py' exists, and this install did not write it/,
  },
  'a broken lockfile': {
    files: { 'hub.lock.json': '{' },
    says: /in the target cannot be read, because it is not JSON/,
  },
  'a newer lockfile': {
    files: { 'hub.lock.json': '{"version": 7}' },
    says: /cannot be read, because it has format version 7/,
  },
  'a file at .hub': { files: { '.hub': '' }, says: /'\.hub' is a link or a file, but must be a folder/ },
  'a target that is a file': { arrange: ({ target }) => writeFile(target, ''), says: /target: is a file, but must be/ },
  'the .hub folder as target': {
    fields: { target: join(import.meta.dirname, '../..') },
    says: /The target cannot be used/,
  },
  'a system folder': { fields: { target: '/proc/x' }, says: /The target cannot be used/ },
  'a policy': { arrange: ({ hub }) => hub.changePolicy('version: 1\ndefault: { install: block }'), says: /policy/ },
  'nothing locked': { fields: FROZEN, says: /is not locked in the target/ },
};

test('dry run: reports the same as the install', async (t) => {
  const hub = await installHub(t);
  const manifests = twoVersions(await startIndexServer(t));
  for (const [name, each] of Object.entries(CASES)) {
    await t.test(name, async (t) => compareBoth(each, await installStage(t, hub), manifests));
    await hub.changePolicy('version: 1');
  }
});

type Manifests = ReturnType<typeof twoVersions>;

async function compareBoth(each: Case, stage: InstallStage, manifests: Manifests): Promise<void> {
  const { isInstalled, files = {}, arrange, fields, says, ok = false } = each;
  const { target } = stage;
  if (isInstalled) await stage.install(manifests.old, { clients: ['claude'] });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(target, path)), { recursive: true });
    await writeFile(join(target, path), text, 'latin1');
  }
  await arrange?.(stage);
  const before = await treeDigest(dirname(target));
  const manifest = fields?.frozen && isInstalled ? manifests.old : manifests.new;
  const install = (dry_run: boolean) => stage.install(manifest, { clients: ['claude'], ...fields, dry_run });
  const foreseen = await sentencesOf(install(true));
  assert.equal(await treeDigest(dirname(target)), before, 'nothing was changed');
  const reported = await sentencesOf(install(false));
  for (const { text } of [foreseen, reported]) assert.match(text, says);
  assert.deepEqual([foreseen.ok, reported.ok], [ok, ok]);
  const isLeft = (path: string) => !fields?.force && (!ok || path !== '.mcp.json');
  for (const path of Object.keys(files).filter(isLeft))
    assert.equal(await readFile(join(target, path), 'latin1'), files[path]);
  assert.ok(!reported.isRefused || (await treeDigest(dirname(target))) === before, 'nothing was built');
}

function twoVersions(host: Awaited<ReturnType<typeof startIndexServer>>) {
  const manifest = (version: string, path: string) => {
    host.put(path, rawZip([{ name: 'a.txt', content: version }]));
    return aManifest({
      version,
      artifacts: [{ kind: 'zip', spec: { url: host.url(path) } }],
      mcp_registration: { server: { exec: { cmd: ['node', 'a.js'] } } },
      adapters: [{ framework: 'langgraph', template_key: 'node', path: 'glue.py' }],
    });
  };
  return { old: manifest('1.0.0', '/1.0.0/thing.zip'), new: manifest('2.0.0', '/2.0.0/thing.zip') };
}

async function sentencesOf(install: Promise<InstallReport>) {
  try {
    const { ok, dry_run, plan, results } = await install;
    const foreseen = [...plan.artifacts, ...plan.adapters].flatMap(({ fault, warning }) => [fault, warning]);
    const reported = results.flatMap(({ extra }) => [extra?.error, extra?.warning]);
    return { ok, isRefused: results.length === 1, text: (dry_run ? foreseen : reported).filter(Boolean).join('\n') };
  } catch (error) {
    return { ok: false, isRefused: true, text: (error as Error).message };
  }
}
