// The lockfile of a target, which lists exactly what is installed: merged, sorted, and written atomically.

import { withoutVersion } from '../../catalog/uid.ts';
import { HubError } from '../../errors.ts';
import { asObject, isJsonObject, isWithinDepth, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { plainIssue } from '../../lib/plain-issue.ts';
import { withoutCredentials } from '../../lib/secrets/credentials.ts';
import { LOCKFILE_NAME, LOCKFILE_VERSION, type LockedEntity, Lockfile } from '../contract.ts';
import { InstallError, issueSentence } from '../errors.ts';
import { readInside, writeFileInside } from '../target/files.ts';

/** Far deeper than any manifest's spec; deeper documents could overflow the stack. */
const DEEPEST_LOCKFILE = 128;

export const EMPTY_LOCKFILE: Lockfile = { version: LOCKFILE_VERSION, entities: [] };

/** The lock entry of one entity, and those of all others. */
export interface LockedEntities {
  known: LockedEntity | undefined;
  others: readonly LockedEntity[];
}

/** Returns undefined if there is none. Errors name the place. @throws InstallError if it cannot be read. */
export async function readLockfile(targetDir: string, place?: string): Promise<Lockfile | undefined> {
  const text = await readInside(targetDir, LOCKFILE_NAME);
  return text === undefined ? undefined : parseLockfile(text, place);
}

export function parseLockfile(text: string, place = 'the target'): Lockfile {
  const unreadable = (why: string) =>
    new InstallError(
      `The lockfile ${LOCKFILE_NAME} in ${place} cannot be read, because ${why}. Fix it or move it away.`,
    );
  let document: unknown;
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw unreadable('it is not JSON');
  }
  // Checked first, because a newer version may have any shape.
  const version = isJsonObject(document) ? document.version : undefined;
  if (typeof version === 'number' && Math.floor(version) !== LOCKFILE_VERSION)
    throw unreadable(`it has format version ${version}, but this hub supports ${LOCKFILE_VERSION}: use a newer hub`);
  if (!isWithinDepth(document, DEEPEST_LOCKFILE))
    throw unreadable(`it is nested deeper than ${DEEPEST_LOCKFILE} levels`);
  const read = Lockfile.safeParse(document, { error: plainIssue });
  if (read.success) return read.data;
  const faults = read.error.issues.slice(0, 3).map((issue) => issueSentence(issue, '$'));
  throw unreadable(`it is not a lockfile: ${faults.join('; ')}`);
}

/** Replaces any other version of the entity. */
export function mergeLockfile(existing: Lockfile | undefined, entity: LockedEntity): Lockfile {
  const others = withoutEntity(existing ?? EMPTY_LOCKFILE, entity.id);
  const inOrder = (a: LockedEntity, b: LockedEntity) => (withoutVersion(a.id) < withoutVersion(b.id) ? -1 : 1);
  return { ...others, entities: [...others.entities, entity].sort(inOrder) };
}

export function findLocked(lockfile: Lockfile | undefined, uid: string): LockedEntity | undefined {
  return lockfile?.entities.find(({ id }) => withoutVersion(id) === withoutVersion(uid));
}

/** Requires the entity, in this version if the id has one. @throws HubError `lockfile_mismatch` */
export function lockedEntity(lockfile: Lockfile | undefined, id: string): LockedEntity {
  const locked = findLocked(lockfile, id);
  if (locked && (!id.includes('@') || id === locked.id)) return locked;
  const found = locked ? `has '${locked.id}'` : lockfile ? 'does not contain it' : 'is missing';
  throw new HubError(
    'lockfile_mismatch',
    `'${id.slice(0, 120)}' is not locked in the target: ${LOCKFILE_NAME} ${found}. Install it once without --frozen to lock it.`,
  );
}

/** Whether kind and spec are the same, apart from secrets. */
export function isSameArtifact(one: JsonObject, other: JsonObject): boolean {
  const [ours, theirs] = [one, other].map(({ kind, spec }) => jsonDigest([kind, withoutCredentials(asObject(spec))]));
  return ours === theirs;
}

export function withoutEntity(lockfile: Lockfile, uid: string): Lockfile {
  return { ...lockfile, entities: lockfile.entities.filter(({ id }) => withoutVersion(id) !== withoutVersion(uid)) };
}

/** Returns whether the file changed. */
export async function writeLockfile(targetDir: string, lockfile: Lockfile): Promise<boolean> {
  const text = `${JSON.stringify(lockfile, null, 2)}\n`;
  if ((await readInside(targetDir, LOCKFILE_NAME)) === text) return false;
  await writeFileInside(targetDir, LOCKFILE_NAME, text);
  return true;
}
