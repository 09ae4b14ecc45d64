// Compares the files in a target with its lockfile.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { kindNameOf } from '../../catalog/artifact-kind.ts';
import { verifyAdapter } from '../adapters/locked-adapter.ts';
import { inspectBundle } from '../artifacts/archive/bundle.ts';
import { readArtifact } from '../artifacts/kinds.ts';
import { checkLocked, isChanged, MARKER, readComplete, vendorTree, workIn } from '../artifacts/place.ts';
import {
  LOCKFILE_NAME,
  type LockCheck,
  type LockedArtifact,
  type LockedEntity,
  type LockedLauncher,
  type LockFinding,
  type Lockfile,
  type LockReport,
} from '../contract.ts';
import { explain } from '../errors.ts';
import { launcherText } from '../launcher-text.ts';
import { launcherPath } from '../launchers.ts';
import { absent, pathInside, readInside } from '../target/files.ts';

/** Returns undefined without a lockfile. Fetches, changes and starts nothing. */
export async function verifyLockfile(targetDir: string, lockfile?: Lockfile): Promise<LockReport | undefined> {
  if (!lockfile) return undefined;
  const checks: LockCheck[] = [];
  for (const locked of lockfile.entities) {
    const { id: entity, artifacts, adapters, launchers = [] } = locked;
    const check = async (what: string, path: string | null, found: Promise<LockFinding>) => {
      const finding = await found.catch((error): LockFinding => ({ outcome: 'different', reason: explain(error) }));
      checks.push({ entity, what, path, ...finding });
    };
    for (const each of artifacts)
      await check(kindNameOf(each.kind, each.spec), each.path, verifyArtifact(each, targetDir));
    for (const each of launchers)
      await check('launcher', launcherPath(each.name), verifyLauncher(each, locked, targetDir));
    for (const each of adapters) await check(`adapter ${each.framework}`, each.path, verifyAdapter(targetDir, each));
  }
  const ok = checks.every(({ outcome }) => outcome === 'same' || outcome === 'unchecked');
  return { ok, target: targetDir, lockfile: LOCKFILE_NAME, checks };
}

async function verifyArtifact(locked: LockedArtifact, targetDir: string): Promise<LockFinding> {
  const { kind, spec, path, tree, ok } = locked;
  if (!ok) return { outcome: 'unchecked', reason: 'it could not be installed' };
  if (path === null) {
    const isImage = kindNameOf(kind, spec) === 'oci';
    return { outcome: 'unchecked', reason: isImage ? 'images are kept by the container engine' : 'it has no files' };
  }
  if (tree !== undefined) {
    const folder = await pathInside(targetDir, path);
    const found = await vendorTree(folder).catch(absent);
    if (found === undefined) return { outcome: 'missing', reason: 'the folder is missing' };
    if (found === tree) return { outcome: 'same' };
    return { outcome: 'different', reason: `the folder was changed${await workIn(folder)}` };
  }
  const artifact = readArtifact(kind, spec);
  if (!('fault' in artifact)) checkLocked(artifact, { isFrozen: true, locked });
  const complete = await readComplete(targetDir, path);
  if (!complete) return { outcome: 'missing', reason: "the folder is incomplete; 'hub install --frozen' rebuilds it" };
  if (await isChanged(targetDir, path, complete))
    return { outcome: 'different', reason: "the folder was changed; 'hub install --frozen' rebuilds it" };
  return { outcome: 'same' };
}

async function verifyLauncher(launcher: LockedLauncher, entity: LockedEntity, targetDir: string): Promise<LockFinding> {
  const { path = null, tree } = entity.artifacts[launcher.artifact] ?? {};
  const text = await readInside(targetDir, launcherPath(launcher.name));
  if (text === undefined) return { outcome: 'missing', reason: "it is missing; 'hub install --frozen' restores it" };
  const isBundle = launcher.program === undefined && launcher.command === undefined;
  const read = async (folder: string) =>
    isBundle ? inspectBundle(join(targetDir, folder)) : (await readComplete(targetDir, folder))?.built;
  const isThere = path === null || existsSync(await pathInside(targetDir, tree ? path : `${path}/${MARKER}`));
  if (!isThere) return { outcome: 'unchecked', reason: 'what it starts is missing' };
  const built = path === null ? {} : await read(path);
  const isSame = text === launcherText(launcher, { path, ...built }, entity);
  return isSame ? { outcome: 'same' } : { outcome: 'different', reason: 'the file was changed' };
}
