// The lockfile of a target: exactly what is installed there. Merged, sorted, and never half written.
import { parseReference } from '../../catalog/uid.ts';
import { removeInside, writeFileInside } from '../../lib/files.ts';
import { isJsonObject, isWithinDepth } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { PathError, pathInside } from '../../lib/path-inside.ts';
import { openPlainFile } from '../../lib/plain-file.ts';
import { utf8Text } from '../../lib/utf8.ts';
import { LOCKFILE_NAME, LOCKFILE_VERSION, LockedArtifact, LockedEntity, Lockfile } from '../contract.ts';
import { InstallError } from '../errors.ts';

const LARGEST_LOCKFILE = 50_000_000;
/** Far deeper than the spec of any manifest. Deeper documents could exhaust the stack. */
const DEEPEST_LOCKFILE = 128;

export const EMPTY_LOCKFILE: Lockfile = { version: LOCKFILE_VERSION, entities: [] };

/** Undefined when there is none. @throws InstallError when it cannot be read. */
export async function readLockfile(targetDir: string): Promise<Lockfile | undefined> {
  const path = await pathInside(targetDir, LOCKFILE_NAME);
  const file = await openPlainFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return 'absent' as const;
    throw error;
  });
  if (file === 'absent') return undefined;
  if (!file) throw new PathError(`'${LOCKFILE_NAME}' exists and is not a file.`);
  try {
    const found = await file.stat();
    if (found.size > LARGEST_LOCKFILE) throw unreadable('it is too large');
    const text = utf8Text(await file.readFile());
    if (text === undefined) throw unreadable('it is not UTF-8');
    return parseLockfile(text);
  } finally {
    await file.close();
  }
}

export function parseLockfile(text: string): Lockfile {
  let document: unknown;
  try {
    document = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw unreadable('it is not JSON');
  }
  // The version comes first: the rest of a newer version may have any shape.
  const version = isJsonObject(document) ? document.version : undefined;
  if (typeof version === 'number' && version >= LOCKFILE_VERSION + 1)
    throw unreadable(
      `it is of version ${version}, and this hub knows version ${LOCKFILE_VERSION}: use a newer hub`,
      isWithinDepth(document, DEEPEST_LOCKFILE) ? Lockfile.safeParse(document).data : undefined,
    );
  if (typeof version === 'number' && version < LOCKFILE_VERSION)
    throw unreadable(`its version is ${version}, and versions begin with ${LOCKFILE_VERSION}`);
  if (!isWithinDepth(document, DEEPEST_LOCKFILE))
    throw unreadable(`it is nested deeper than ${DEEPEST_LOCKFILE} levels`);
  const read = Lockfile.safeParse(document);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw unreadable(`it is not a lockfile (${issue?.path.join('.') || 'top level'}: ${issue?.message ?? 'invalid'})`);
}

/** Replaces any other version of the entity; fields that this hub does not know are kept. */
export function mergeLockfile(existing: Lockfile | undefined, entity: LockedEntity): Lockfile {
  const before = existing ?? EMPTY_LOCKFILE;
  const old = before.entities.find((each) => keyOf(each) === keyOf(entity));
  const others = before.entities.filter((each) => each !== old && keyOf(each) !== keyOf(entity));
  const merged = old ? withUnknownFields(entity, old) : entity;
  const entities = [...others, merged].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
  return { ...before, version: before.version, entities };
}

/** Fields that are not always there. They must not be kept when they are gone. `entry` and `written` belong to adapters. */
const KNOWN_FIELDS = [
  ...[LockedEntity, LockedArtifact, LockedEntity.shape.provenance].flatMap(({ shape }) => Object.keys(shape)),
  ...['entry', 'written'],
];

/** A newer hub may have written more about the same entity. */
function withUnknownFields(entity: LockedEntity, old: LockedEntity): LockedEntity {
  return {
    ...unknownIn(old, entity),
    ...entity,
    artifacts: entity.artifacts.map((each) => ({
      ...unknownIn(old.artifacts.find(isSame(each, 'spec')), each),
      ...each,
    })),
    adapters: entity.adapters.map((each) => ({ ...unknownIn(old.adapters.find(isSame(each, 'path')), each), ...each })),
    provenance: { ...unknownIn(old.provenance, entity.provenance), ...entity.provenance },
  };
}

function isSame<T extends object>(one: T, key: keyof T): (other: T) => boolean {
  return (other) => jsonDigest(one[key]) === jsonDigest(other[key]);
}

function unknownIn(old: object | undefined, known: object): Record<string, unknown> {
  const isUnknown = (key: string) => !Object.hasOwn(known, key) && !KNOWN_FIELDS.includes(key);
  return Object.fromEntries(Object.entries(old ?? {}).filter(([key]) => isUnknown(key)));
}

export function findLocked(lockfile: Lockfile | undefined, uid: string): LockedEntity | undefined {
  return lockfile?.entities.find(({ id }) => isSameEntity(id, uid));
}

export function isSameEntity(one: string, other: string): boolean {
  return keyOf({ id: one }) === keyOf({ id: other });
}

export function withoutEntity(lockfile: Lockfile, uid: string): Lockfile {
  return { ...lockfile, entities: lockfile.entities.filter(({ id }) => !isSameEntity(id, uid)) };
}

/** @throws InstallError when it would be too large to be read again. */
export async function writeLockfile(targetDir: string, lockfile: Lockfile): Promise<void> {
  const text = Buffer.from(`${JSON.stringify(lockfile, null, 2)}\n`);
  if (text.length > LARGEST_LOCKFILE)
    throw new InstallError(
      `The lockfile ${LOCKFILE_NAME} in the target was left as it is, because it would be larger than ${LARGEST_LOCKFILE} bytes with this: install into a target of its own what has such a long manifest.`,
    );
  await writeFileInside(targetDir, LOCKFILE_NAME, text);
}

export async function removeLockfile(targetDir: string): Promise<void> {
  await removeInside(targetDir, LOCKFILE_NAME);
}

/** Two versions of one entity have the same entry. */
function keyOf({ id }: Pick<LockedEntity, 'id'>): string {
  const reference = parseReference(id);
  return reference ? `${reference.type}:${reference.slug}` : id;
}

/** A lockfile that cannot be used. */
class LockfileError extends InstallError {
  /** Its content, if that looks like a lockfile: only to be shown. */
  readonly found: Lockfile | undefined;

  constructor(message: string, found: Lockfile | undefined) {
    super(message);
    this.found = found;
  }
}

/** The lockfile on disk, if it can be shown although reading it failed. */
export function foundLockfile(error: unknown): Lockfile | undefined {
  return error instanceof LockfileError ? error.found : undefined;
}

function unreadable(why: string, found?: Lockfile): InstallError {
  return new LockfileError(
    `The lockfile ${LOCKFILE_NAME} in the target was left as it is, because ${why}. Fix it or move it away, then install again.`,
    found,
  );
}
