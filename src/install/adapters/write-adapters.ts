// Writes the glue code of a plan into the target.
import { createHash } from 'node:crypto';
import { writeFileInside } from '../../lib/files.ts';
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import { PathError, pathInside } from '../../lib/path-inside.ts';
import { openPlainFile } from '../../lib/plain-file.ts';
import { utf8Text } from '../../lib/utf8.ts';
import type { LockedAdapter, Lockfile, PlannedAdapter } from '../contract.ts';
import { explain } from '../explain.ts';
import { type OthersPlaces, placesOfOthers } from '../known-places.ts';
import { overlap } from '../places.ts';
import type { InstallSubject } from '../subject.ts';
import type { ConfigEntry, Rendered } from './adapter-template.ts';
import { type EarlierEntry, mergeEntry } from './config-file.ts';
import { genericStub } from './generic.ts';
import { paramsOf } from './plan-adapters.ts';
import { findTemplate } from './templates.ts';

export interface WrittenAdapters {
  locked: LockedAdapter[];
  /** Files that were there before and are kept under another name. */
  kept: string[];
  /** One sentence for each that was left as somebody changed it. */
  warnings: string[];
  /** One sentence for each adapter that could not be written. */
  errors: string[];
}

export interface AdapterJob {
  targetDir: string;
  subject: InstallSubject;
  planned: readonly PlannedAdapter[];
  /** What the lockfile says of the last install of this entity. */
  before: readonly LockedAdapter[];
  lockfile: Lockfile | undefined;
}

const LARGEST_FILE = 5_000_000;

export async function writeAdapters(job: AdapterJob): Promise<WrittenAdapters> {
  const { targetDir, subject, planned, before, lockfile } = job;
  const others = placesOfOthers(lockfile, subject.uid);
  const written: WrittenAdapters = { locked: [], kept: [], warnings: [], errors: [] };
  for (const [index, adapter] of planned.entries()) {
    const { framework, template_key, path } = adapter;
    try {
      if (adapter.fault) throw new RangeError(adapter.fault);
      const template = findTemplate(framework, template_key) ?? genericStub(framework, template_key);
      const rendered = template.render({ subject, params: paramsOf(subject.adapters[index]) });
      assertNobodys(path, rendered, others);
      const earlier = before.find((each) => each.path === path && sectionOf(each) === sectionOf(adapter));
      const result =
        rendered.kind === 'entry'
          ? await putEntry(targetDir, path, rendered, { earlier, taken: takenNames(adapter, others) })
          : await putFile(targetDir, path, rendered.content, earlier);
      if (result.kept) written.kept.push(result.kept);
      if (result.warning) written.warnings.push(result.warning);
      written.locked.push({ framework, template_key, path, ...result.locked });
    } catch (error) {
      const why = error instanceof RangeError ? error.message : explain(error);
      written.errors.push(`The adapter for '${framework}' was not written: ${why}`);
    }
  }
  return written;
}

/** @throws RangeError when another entity has something there. */
function assertNobodys(path: string, rendered: Rendered, { folders, adapters }: OthersPlaces): void {
  const content = rendered.kind === 'file' ? digest(rendered.content) : undefined;
  const isInTheWay = ({ entry, integrity, path: other }: LockedAdapter) => {
    if (other.toLowerCase() !== path.toLowerCase()) return false;
    // Entries of several entities share a file, and two entities may have the very same file.
    return content === undefined ? entry === undefined : integrity !== content;
  };
  const owner = folders.find((each) => overlap(each.path, path)) ?? adapters.find(({ adapter }) => isInTheWay(adapter));
  if (owner)
    throw new RangeError(
      `'${path}' is a place of ${owner.id}, as the lockfile says; choose another path, or another target.`,
    );
}

interface Put {
  locked: { integrity: string; entry?: string; written?: JsonObject };
  kept?: string;
  warning?: string;
}

async function putEntry(
  targetDir: string,
  path: string,
  entry: ConfigEntry,
  { earlier, taken }: { earlier: LockedAdapter | undefined; taken: string[] },
): Promise<Put> {
  const existing = await readInside(targetDir, path);
  try {
    const { text, name, isTheirs } = mergeEntry(existing, entry, earlierEntry(earlier), taken);
    if (text !== existing) await writeFileInside(targetDir, path, text);
    // Of the entry alone: the rest of the file belongs to others. With its placeholders, which people fill in.
    const locked = { integrity: jsonDigest(entry.entry), entry: name, written: entry.entry };
    return { locked, ...(isTheirs ? { warning: leftAsItIs(path, name) } : {}) };
  } catch (error) {
    if (error instanceof RangeError)
      throw new RangeError(`'${path}' exists and was left as it is, because ${error.message}.`, { cause: error });
    throw error;
  }
}

/** What the lockfile says of an entry; undefined when it was a file of its own. */
export function earlierEntry(locked: LockedAdapter | undefined): EarlierEntry | undefined {
  if (typeof locked?.entry !== 'string') return undefined;
  const written = isJsonObject(locked.written) ? locked.written : undefined;
  return { name: locked.entry, section: sectionOf(locked), written };
}

/** The member of a file that the entry of an adapter is in; undefined for files of their own. */
export function sectionOf({ framework, template_key }: Pick<LockedAdapter, 'framework' | 'template_key'>) {
  return findTemplate(framework, template_key)?.section;
}

/** Of other entities, in the same section of the same file. */
function takenNames(wanted: PlannedAdapter, { adapters }: OthersPlaces): string[] {
  return adapters.flatMap(({ adapter }) => {
    const isThere = adapter.path === wanted.path && sectionOf(adapter) === sectionOf(wanted);
    return isThere && typeof adapter.entry === 'string' ? [adapter.entry] : [];
  });
}

function leftAsItIs(path: string, name: string): string {
  return `The entry '${name}' of '${path}' was changed since it was installed, and is left as it is: remove it and install again to have that of the manifest.`;
}

async function putFile(
  targetDir: string,
  path: string,
  content: string,
  earlier: LockedAdapter | undefined,
): Promise<Put> {
  const existing = await readInside(targetDir, path);
  const integrity = digest(content);
  if (existing === content) return { locked: { integrity } };
  // What somebody wrote or changed is not lost, whatever a manifest calls its own file.
  const isOurs = existing === undefined || digest(existing) === earlier?.integrity;
  const kept = isOurs ? undefined : await keepAside(targetDir, path, existing);
  await writeFileInside(targetDir, path, content);
  return { locked: { integrity }, kept };
}

async function keepAside(targetDir: string, path: string, content: string): Promise<string> {
  for (let number = 1; ; number += 1) {
    const aside = number === 1 ? `${path}.orig` : `${path}.orig-${number}`;
    const found = await readInside(targetDir, aside);
    if (found !== undefined && found !== content) continue;
    if (found === undefined) await writeFileInside(targetDir, aside, content, { accessOf: path });
    return aside;
  }
}

async function readInside(targetDir: string, path: string): Promise<string | undefined> {
  const whole = await pathInside(targetDir, path);
  const file = await openPlainFile(whole).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return 'absent' as const;
  });
  if (file === 'absent') return undefined;
  if (!file) throw new PathError(`'${path}' is there already and is no file.`);
  try {
    const { size } = await file.stat();
    if (size > LARGEST_FILE) throw new PathError(`'${path}' is there already and is too large to be merged.`);
    const text = utf8Text(await file.readFile());
    if (text === undefined)
      throw new PathError(`'${path}' is there already and is not written as UTF-8, so that it is left as it is.`);
    return text;
  } finally {
    await file.close();
  }
}

function digest(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
