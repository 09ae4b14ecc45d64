// Writes the glue code of a plan into the target.
import type { Launch } from '../../catalog/launch/launch.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import type { LockedAdapter, Lockfile, PlannedAdapter } from '../contract.ts';
import { explain } from '../errors.ts';
import type { InstallSubject } from '../subject.ts';
import { keepAside, readInside, writeFileInside } from '../target/files.ts';
import { overlap } from '../target/places.ts';
import { textDigest } from '../target/tree.ts';
import type { AdapterRequest, AdapterTemplate, ConfigEntry, Rendered } from './adapter-template.ts';
import { configFile, earlierEntry } from './locked-adapter.ts';
import { type Others, othersOf, unreachable } from './plan-adapters.ts';
import { findTemplate, genericStub } from './templates.ts';

export interface WrittenAdapters {
  locked: LockedAdapter[];
  /** Files that were there before and are kept under another name. */
  kept: string[];
  /** One sentence for each that was left alone because a person changed it. */
  changed: string[];
  /** What else to know: for example, that a server cannot be reached, so nothing was written for it. */
  warnings: string[];
  /** One sentence for each adapter that could not be written. */
  errors: string[];
}

export interface AdapterJob {
  targetDir: string;
  subject: InstallSubject;
  /** How the server is started now, after the install. */
  launch: Launch;
  planned: readonly PlannedAdapter[];
  /** What the lockfile says of the last install of this entity. */
  before: readonly LockedAdapter[];
  lockfile: Lockfile | undefined;
}

export async function writeAdapters(job: AdapterJob): Promise<WrittenAdapters> {
  const { subject, launch, planned } = job;
  const others = othersOf(job.lockfile, subject.uid);
  const written: WrittenAdapters = { locked: [], kept: [], changed: [], warnings: [], errors: [] };
  for (const adapter of planned) {
    if (launch.kind === 'none' && !adapter.generic && !adapter.fault) {
      written.warnings.push(unreachable(adapter.framework, launch.reason));
      continue;
    }
    try {
      if (adapter.fault) throw new RangeError(adapter.fault);
      await writeAdapter(adapter, { ...job, others, written });
    } catch (error) {
      const why = error instanceof RangeError ? error.message : explain(error);
      written.errors.push(`The adapter for '${adapter.framework}' was not written: ${why}`);
    }
  }
  return written;
}

interface OneJob extends AdapterJob {
  others: Others;
  written: WrittenAdapters;
}

async function writeAdapter(adapter: PlannedAdapter, job: OneJob): Promise<void> {
  const { targetDir, subject, launch, before, others, written } = job;
  const { framework, template_key, path } = adapter;
  const template = findTemplate(framework, template_key) ?? genericStub(framework, template_key);
  const listed = subject.adapters.find((each) => isSame(each, adapter));
  const params = asObject(listed?.params);
  const rendered = render(template, { subject, params, launch, path, targetDir });
  if (rendered.kind === 'paste') {
    written.warnings.push(rendered.note);
    return;
  }
  assertFree(path, rendered, others);
  const earlier = before.find((each) => each.path === path && sectionOf(each) === sectionOf(adapter));
  const result =
    rendered.kind === 'entry'
      ? await putEntry(targetDir, path, rendered, { earlier, taken: takenNames(adapter, others) })
      : await putFile(targetDir, path, rendered.content, earlier);
  if (result.kept) written.kept.push(result.kept);
  if (result.changed) written.changed.push(result.changed);
  // A client that the user asked for is written by later installs too.
  written.locked.push({ framework, template_key, path, ...result.locked, ...(listed ? {} : { asked: true }) });
}

/** Only the generic stub has something to say about an entity that cannot be reached. */
function render(template: AdapterTemplate, request: Omit<AdapterRequest, 'launch'> & { launch: Launch }): Rendered {
  const { launch } = request;
  if (launch.kind === 'none') return template.renderUnreachable?.(request) ?? { kind: 'paste', note: launch.reason };
  return template.render({ ...request, launch });
}

function isSame({ framework, template_key }: JsonObject, adapter: PlannedAdapter): boolean {
  const [name, key] = [framework, template_key].map((each) => (typeof each === 'string' ? each.trim() : ''));
  return name === adapter.framework && key === adapter.template_key;
}

/** @throws RangeError when another entity has something there. */
function assertFree(path: string, rendered: Rendered, { folders, adapters }: Others): void {
  const content = rendered.kind === 'file' ? textDigest(rendered.content) : undefined;
  const isInTheWay = ({ entry, integrity, path: other }: LockedAdapter) => {
    if (other.toLowerCase() !== path.toLowerCase()) return false;
    // Entries of several entities share a file, and two entities may have the very same file.
    return content === undefined ? entry === undefined : integrity !== content;
  };
  const owner = folders.find((each) => overlap(each.path, path)) ?? adapters.find(({ adapter }) => isInTheWay(adapter));
  if (owner)
    throw new RangeError(
      `'${path}' belongs to ${owner.id}, as the lockfile says; choose another path, or another target.`,
    );
}

interface Put {
  locked: { integrity: string; entry?: string; written?: JsonObject };
  kept?: string;
  changed?: string;
}

async function putEntry(
  targetDir: string,
  path: string,
  wanted: ConfigEntry,
  { earlier, taken }: { earlier: LockedAdapter | undefined; taken: string[] },
): Promise<Put> {
  const existing = await readInside(targetDir, path);
  try {
    const { text, name, isTheirs } = configFile(wanted).merge(existing ?? '', wanted, earlierEntry(earlier), taken);
    if (text !== existing) await writeFileInside(targetDir, path, text);
    // Of the entry alone: the rest of the file belongs to others. With its placeholders, which people fill in.
    const locked = { integrity: jsonDigest(wanted.entry), entry: name, written: wanted.entry };
    return { locked, ...(isTheirs ? { changed: leftAsItIs(path, name) } : {}) };
  } catch (error) {
    if (error instanceof RangeError)
      throw new RangeError(`'${path}' exists and was left as it is, because ${error.message}.`, { cause: error });
    throw error;
  }
}

/** The member of a file that the entry of an adapter is in; undefined for files of their own. */
function sectionOf({ framework, template_key }: Pick<LockedAdapter, 'framework' | 'template_key'>): string | undefined {
  return findTemplate(framework, template_key)?.entryOf?.section;
}

/** Of other entities, in the same section of the same file. */
function takenNames(wanted: PlannedAdapter, { adapters }: Others): string[] {
  return adapters.flatMap(({ adapter }) => {
    const isThere = adapter.path === wanted.path && sectionOf(adapter) === sectionOf(wanted);
    return isThere && typeof adapter.entry === 'string' ? [adapter.entry] : [];
  });
}

function leftAsItIs(path: string, name: string): string {
  return `The entry '${name}' of '${path}' was changed since it was installed, and is left as it is: remove it and install again to get the entry of the manifest.`;
}

async function putFile(
  targetDir: string,
  path: string,
  content: string,
  earlier: LockedAdapter | undefined,
): Promise<Put> {
  const existing = await readInside(targetDir, path);
  const integrity = textDigest(content);
  if (existing === content) return { locked: { integrity } };
  // What somebody wrote or changed is not lost, whatever a manifest calls its own file.
  const isOurs = existing === undefined || textDigest(existing) === earlier?.integrity;
  const kept = isOurs ? undefined : await keepAside(targetDir, path);
  await writeFileInside(targetDir, path, content);
  return { locked: { integrity }, ...(kept ? { kept } : {}) };
}
