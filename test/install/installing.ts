// A hub to install with, and a folder to install into.
import fs, { mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { formatUid } from '../../src/catalog/uid.ts';
import { type Environment, readConfig } from '../../src/config.ts';
import { createHub, type Hub } from '../../src/hub/hub.ts';
import { type InstallReport, InstallRequest, type StepResult } from '../../src/install/contract.ts';
import { readLockfile } from '../../src/install/lockfile/lockfile.ts';
import { verifyLockfile } from '../../src/install/lockfile/verify.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { emptyDatabase } from '../support/databases/databases.ts';
import type { IndexServer } from '../support/servers/index-server.ts';
import { testWorld } from '../support/world.ts';
import { rawZip } from './artifacts/raw-archives.ts';

export interface InstallStage {
  hub: Hub;
  /** Does not exist yet. */
  target: string;
  /** A frozen install gets only the id. */
  install(manifest: JsonObject, fields?: JsonObject): Promise<InstallReport>;
  read(path: string): Promise<string>;
  verify(): ReturnType<typeof verifyLockfile>;
  /** Omits the content of repositories. */
  files(): Promise<string[]>;
}

/** A hub without an HTTP server. */
export async function installHub(t: TestContext, settings: Environment = {}): Promise<Hub> {
  const config = { ...readConfig(settings), database: await emptyDatabase(t, 'sqlite') };
  const world = testWorld();
  const hub = await createHub({ config, world, baseUrl: () => 'http://hub.test', mayBlock: true });
  t.after(async () => {
    await hub.close();
    await world.close();
  });
  return hub;
}

/** Uses a new hub unless one is given. */
export async function installStage(t: TestContext, given?: Hub): Promise<InstallStage> {
  const target = join(await aFolder(t), 'target');
  const hub = given ?? (await installHub(t));
  return {
    hub,
    target,
    install: (manifest, fields = {}) =>
      hub.install(
        InstallRequest.parse({ id: uidOf(manifest), target, ...(fields.frozen ? {} : { manifest }), ...fields }),
      ),
    read: (path) => readFile(join(target, path), 'utf8'),
    verify: async () => verifyLockfile(target, await readLockfile(target)),
    async files() {
      const entries = await readdir(target, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(target.length + 1))
        .filter((path) => !path.includes('/.git/'))
        .sort();
    },
  };
}

export function uidOf({ type, id, version }: JsonObject): string {
  return formatUid({ type: type as 'tool', slug: String(id), version: String(version) });
}

export function stepNamed({ results }: InstallReport, name: string): StepResult {
  const found = results.find(({ step }) => step === name);
  if (!found) throw new Error(`No step ${name} among ${results.map(({ step }) => step)}`);
  return found;
}

/** Artifacts with one file, `a.txt`, by the path of their archive. */
export function archives(host: IndexServer, contents: Record<string, string>) {
  for (const [path, content] of Object.entries(contents)) host.put(path, rawZip([{ name: 'a.txt', content }]));
  return Object.keys(contents).map((path) => ({ kind: 'zip', spec: { url: host.url(path) } }));
}

export async function aFolder(t: Pick<TestContext, 'after'>): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'hub-install-')));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** Makes deleting the file fail as if another user owned it, also for root. Returns a function that ends it. */
export function failToUnlink(t: TestContext, name: string): () => void {
  const { unlink } = fs;
  t.mock.method(fs, 'unlink', async (path: Parameters<typeof unlink>[0]) => {
    if (String(path).endsWith(`/${name}`)) throw Object.assign(new Error('not permitted'), { code: 'EACCES' });
    await unlink(path);
  });
  syncBuiltinESMExports();
  const end = () => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  };
  t.after(end);
  return end;
}
