// What an earlier version of an entity put into a target and this one does not have: removed, unless somebody changed it.
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from '../lib/absent.ts';
import { fileDigest } from '../lib/file-digest.ts';
import { removeInside, writeFileInside } from '../lib/files.ts';
import { pathInside } from '../lib/path-inside.ts';
import { readPlainFile } from '../lib/plain-file.ts';
import { utf8Text } from '../lib/utf8.ts';
import { removeEntry } from './adapters/config-file.ts';
import { earlierEntry, sectionOf } from './adapters/write-adapters.ts';
import type { InstallerKind } from './artifacts/artifact-installer.ts';
import { MARK } from './artifacts/destination.ts';
import { installerKindOf } from './artifacts/installer-kind.ts';
import type { LockedAdapter, LockedArtifact, LockedEntity, LockedLeftovers, Lockfile } from './contract.ts';
import { explain } from './explain.ts';
import { overlap } from './places.ts';
import { type VerifyContext, verifyArtifact } from './verify/artifacts.ts';

export interface RemovedLeftovers {
  /** Relative to the target; of a file that others write too, with the name of the entry. */
  removed: string[];
  /** What stays, and why. */
  left: { path: string; reason: string }[];
  /** Of these, what another try may remove; what somebody changed is theirs from now on. */
  rest: LockedLeftovers;
}

/** What became of one thing; undefined when it was not there. */
type Fate = 'removed' | { left: string } | undefined;

/** Packages share what they are in with others. */
const IN_ENVIRONMENTS: readonly InstallerKind[] = ['pypi', 'npm'];

const CHANGED = 'it was changed since it was installed; remove it if it is not needed any more';

/** `before` is what the lockfile said of the entity, `lockfile` what it says now. */
export function findLeftovers(before: LockedEntity | undefined, lockfile: Lockfile): LockedLeftovers {
  const { artifacts = [], adapters = [] } = before?.leftovers ?? {};
  const isFolder = ({ kind, spec }: LockedArtifact) => !IN_ENVIRONMENTS.includes(installerKindOf(kind, spec));
  return {
    artifacts: [...(before?.artifacts ?? []), ...artifacts].filter(
      (each) => each.path !== null && isFolder(each) && !isStillPlace(each.path, lockfile),
    ),
    adapters: [...(before?.adapters ?? []), ...adapters].filter((each) => !isStillAdapter(each, lockfile)),
  };
}

/** The lockfile with them in the entry of the entity, until they are gone. */
export function withLeftovers(lockfile: Lockfile, id: string, leftovers: LockedLeftovers): Lockfile {
  if (leftovers.artifacts.length + leftovers.adapters.length === 0) return lockfile;
  return { ...lockfile, entities: lockfile.entities.map((each) => (each.id === id ? { ...each, leftovers } : each)) };
}

/** Never rejects: what cannot be removed stays. */
export async function removeLeftovers(
  { artifacts, adapters }: LockedLeftovers,
  context: VerifyContext,
): Promise<RemovedLeftovers> {
  const found: RemovedLeftovers = { removed: [], left: [], rest: { artifacts: [], adapters: [] } };
  const tell = async (path: string, removal: Promise<Fate>, keep: () => void) => {
    const fate = await removal.catch((error: unknown) => {
      keep();
      return { left: explain(error) };
    });
    if (fate === 'removed') found.removed.push(path);
    else if (fate) found.left.push({ path, reason: fate.left });
  };
  for (const each of adapters)
    await tell(shownPath(each), removeAdapter(each, context.targetDir), () => found.rest.adapters.push(each));
  for (const each of artifacts)
    await tell(each.path ?? '', removeFolder(each, context), () => found.rest.artifacts.push(each));
  return found;
}

function shownPath({ path, entry }: LockedAdapter): string {
  return typeof entry === 'string' ? `${path} (${entry})` : path;
}

/** Of any entity: two may write into one file, and come out of one folder. */
function isStillAdapter(adapter: LockedAdapter, lockfile: Lockfile): boolean {
  const { path, entry } = adapter;
  const isSame = (each: LockedAdapter) =>
    each.path === path && each.entry === entry && sectionOf(each) === sectionOf(adapter);
  return lockfile.entities.some(
    ({ adapters, artifacts }) =>
      adapters.some(isSame) || artifacts.some((each) => each.path !== null && overlap(each.path, path)),
  );
}

function isStillPlace(path: string, { entities }: Lockfile): boolean {
  return entities.some(
    ({ adapters, artifacts }) =>
      adapters.some((each) => overlap(each.path, path)) ||
      artifacts.some((each) => each.path !== null && overlap(each.path, path)),
  );
}

async function removeAdapter(adapter: LockedAdapter, targetDir: string): Promise<Fate> {
  const { path, integrity } = adapter;
  const file = await pathInside(targetDir, path);
  const entry = earlierEntry(adapter);
  if (!entry) {
    const digest = await fileDigest(file).catch(absent);
    if (digest === undefined) return undefined;
    if (digest !== integrity) return { left: CHANGED };
    await removeInside(targetDir, path);
    return 'removed';
  }
  const bytes = await readPlainFile(file).catch(absent);
  if (bytes === undefined) return undefined;
  const text = utf8Text(bytes);
  if (text === undefined) return { left: 'it is not written as UTF-8; remove the entry by hand' };
  try {
    // Whether its client takes comments is the business of the client.
    const changed = removeEntry(text, { allowsComments: true }, entry);
    if (changed === 'absent') return undefined;
    if (changed === 'another') return { left: CHANGED };
    // Also when nothing else is in it: a person may have made it.
    await writeFileInside(targetDir, path, changed.text);
    return 'removed';
  } catch (error) {
    if (error instanceof RangeError) return { left: `${error.message}; remove the entry by hand` };
    throw error;
  }
}

/** Only folders that installs made and marked as theirs. */
async function removeFolder(artifact: LockedArtifact, context: VerifyContext): Promise<Fate> {
  const path = artifact.path ?? '';
  const folder = await pathInside(context.targetDir, path);
  const isMarked = await access(join(folder, MARK)).then(
    () => true,
    () => false,
  );
  if (!isMarked) return undefined;
  const { outcome } = await verifyArtifact(artifact, context);
  if (outcome === 'missing') return undefined;
  if (outcome !== 'same') return { left: CHANGED };
  await removeInside(context.targetDir, path);
  return 'removed';
}
