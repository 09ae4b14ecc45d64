// The lockfile of a target: what is installed there, exactly; merged, sorted, and never half written.
import { parseReference } from '../catalog/uid.ts';
import { writeFileInside } from '../lib/files.ts';
import { isJsonObject, isWithinDepth } from '../lib/json.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { PathError, pathInside } from '../lib/path-inside.ts';
import { openPlainFile } from '../lib/plain-file.ts';
import { utf8Text } from '../lib/utf8.ts';
import { InstallError } from './artifacts/artifact-installer.ts';
import { LOCKFILE_NAME, LOCKFILE_VERSION, LockedArtifact, LockedEntity, Lockfile } from './contract.ts';

const LARGEST_LOCKFILE = 50_000_000;
/** Far deeper than the specs of any manifest; what is deeper still would exhaust the stack of whatever walks it. */
const DEEPEST_LOCKFILE = 128;

export const EMPTY_LOCKFILE: Lockfile = { version: LOCKFILE_VERSION, entities: [] };

/** Undefined when there is none. @throws InstallError when it is there and cannot be understood. */
export async function readLockfile(targetDir: string): Promise<Lockfile | undefined> {
  const path = await pathInside(targetDir, LOCKFILE_NAME);
  const file = await openPlainFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return 'absent' as const;
    throw error;
  });
  if (file === 'absent') return undefined;
  if (!file) throw new PathError(`'${LOCKFILE_NAME}' is there already and is no file.`);
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
  // Asked first: what a newer version looks like is not known.
  const version = isJsonObject(document) ? document.version : undefined;
  if (typeof version === 'number' && version >= LOCKFILE_VERSION + 1)
    throw unreadable(
      `it is of version ${version}, and this hub knows version ${LOCKFILE_VERSION}: use a newer hub`,
      isWithinDepth(document, DEEPEST_LOCKFILE) ? Lockfile.safeParse(document).data : undefined,
    );
  if (typeof version === 'number' && version < LOCKFILE_VERSION)
    throw unreadable(`it is no lockfile of ours (version ${version}, and they begin with ${LOCKFILE_VERSION})`);
  if (!isWithinDepth(document, DEEPEST_LOCKFILE))
    throw unreadable(`it is nested deeper than ${DEEPEST_LOCKFILE} levels`);
  const read = Lockfile.safeParse(document);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw unreadable(`it is no lockfile (${issue?.path.join('.') || 'the whole of it'}: ${issue?.message ?? 'invalid'})`);
}

/** With the entity in the place of any other version of it; everything that is not known here is kept. */
export function mergeLockfile(existing: Lockfile | undefined, entity: LockedEntity): Lockfile {
  const before = existing ?? EMPTY_LOCKFILE;
  const old = before.entities.find((each) => keyOf(each) === keyOf(entity));
  const others = before.entities.filter((each) => each !== old && keyOf(each) !== keyOf(entity));
  const merged = old ? withUnknownFields(entity, old) : entity;
  const entities = [...others, merged].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
  return { ...before, version: before.version, entities };
}

/** Some are not always there: when they are gone, they are not kept. Those of adapters that are entries are in no schema. */
const KNOWN_FIELDS = [
  ...[LockedEntity, LockedArtifact, LockedEntity.shape.provenance].flatMap(({ shape }) => Object.keys(shape)),
  ...['entry', 'written'],
];

/** A newer hub may have written more about the same things; this one keeps what it does not know. */
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

/** @throws InstallError when nobody could read it afterwards. */
export async function writeLockfile(targetDir: string, lockfile: Lockfile): Promise<void> {
  const text = Buffer.from(`${JSON.stringify(lockfile, null, 2)}\n`);
  if (text.length > LARGEST_LOCKFILE)
    throw new InstallError(
      `The lockfile ${LOCKFILE_NAME} in the target was left as it is, because it would be larger than ${LARGEST_LOCKFILE} bytes with this: install into a target of its own what has such a long manifest.`,
    );
  await writeFileInside(targetDir, LOCKFILE_NAME, text);
}

/** Two versions of one thing are the same entry. */
function keyOf({ id }: Pick<LockedEntity, 'id'>): string {
  const reference = parseReference(id);
  return reference ? `${reference.type}:${reference.slug}` : id;
}

/** Of a lockfile that is not used. */
class LockfileError extends InstallError {
  /** What is in it, where that has the shape of one all the same: for showing only. */
  readonly found: Lockfile | undefined;

  constructor(message: string, found: Lockfile | undefined) {
    super(message);
    this.found = found;
  }
}

/** What is on disk, as far as it can be shown, when reading it failed with the error. */
export function foundLockfile(error: unknown): Lockfile | undefined {
  return error instanceof LockfileError ? error.found : undefined;
}

function unreadable(why: string, found?: Lockfile): InstallError {
  return new LockfileError(
    `The lockfile ${LOCKFILE_NAME} in the target was left as it is, because ${why}. Mend it or move it away, then install again.`,
    found,
  );
}
