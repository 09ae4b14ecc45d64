// Writes the glue code of a plan into the target.
import type { Launch } from '../../catalog/launch/launch.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import type { LockedAdapter, PlannedAdapter } from '../contract.ts';
import { explain, InstallError } from '../errors.ts';
import type { LockedEntities } from '../lockfile/lockfile.ts';
import type { InstallSubject } from '../subject.ts';
import { readInside, writeFileInside } from '../target/files.ts';
import { textDigest } from '../target/tree.ts';
import type { Rendered } from './adapter-template.ts';
import { mergeEntry } from './config-file.ts';
import { lockedEntry } from './locked-adapter.ts';
import { text, unreachable } from './plan-adapters.ts';
import { findTemplate, genericStub } from './templates.ts';

export interface WrittenAdapters {
  locked: LockedAdapter[];
  /** One sentence for each that was left alone because a person changed it. */
  changed: string[];
  /** What else to know: for example, that a server cannot be reached, so nothing was written for it. */
  warnings: string[];
  errors: string[];
}

export interface AdapterJob extends LockedEntities {
  targetDir: string;
  subject: InstallSubject;
  /** How the server is started now, after the install. */
  launch: Launch;
  planned: readonly PlannedAdapter[];
}

export async function writeAdapters(job: AdapterJob): Promise<WrittenAdapters> {
  const written: WrittenAdapters = { locked: [], changed: [], warnings: [], errors: [] };
  for (const adapter of job.planned) {
    try {
      if (adapter.fault) throw new InstallError(adapter.fault);
      await writeAdapter(adapter, job, written);
    } catch (error) {
      written.errors.push(`The adapter for '${adapter.framework}' was not written: ${explain(error)}`);
    }
  }
  return written;
}

async function writeAdapter(adapter: PlannedAdapter, job: AdapterJob, written: WrittenAdapters): Promise<void> {
  const { framework, template_key, path } = adapter;
  const listed = job.subject.adapters.find(
    (each) => text(each.framework) === framework && text(each.template_key) === template_key,
  );
  const rendered = render(adapter, asObject(listed?.params), job);
  if (rendered.kind === 'paste') {
    written.warnings.push(rendered.note);
    return;
  }
  const existing = await readInside(job.targetDir, path);
  const earlier = job.known?.adapters.find((each) => each.path === path && sectionOf(each) === sectionOf(adapter));
  const { content, locked, changed } =
    rendered.kind === 'entry'
      ? putEntry(rendered, { existing, earlier, path, taken: takenNames(adapter, job) })
      : putFile(rendered.content, { existing, earlier, path });
  if (content !== existing) await writeFileInside(job.targetDir, path, content);
  if (changed)
    written.changed.push(
      `${changed} was changed since it was installed, and is left as it is: remove it and install again to get the one of the manifest.`,
    );
  // A client that the user asked for is written by later installs too.
  written.locked.push({ framework, template_key, path, ...locked, ...(listed ? {} : { asked: true }) });
}

function render({ framework, template_key, path }: PlannedAdapter, params: JsonObject, job: AdapterJob): Rendered {
  const { subject, launch, targetDir } = job;
  const template = findTemplate(framework, template_key) ?? genericStub(framework, template_key);
  if (launch.kind === 'none') return { kind: 'paste', note: unreachable(framework, launch.reason) };
  return template.render({ subject, params, path, targetDir, launch });
}

interface Place {
  existing: string | undefined;
  earlier: LockedAdapter | undefined;
  path: string;
}

interface Put {
  content: string;
  locked: { integrity: string; entry?: string; written?: JsonObject };
  /** What a person changed, so that it stays. */
  changed?: string | undefined;
}

function putEntry(
  wanted: Extract<Rendered, { kind: 'entry' }>,
  { existing = '', earlier, path, taken }: Place & { taken: readonly string[] },
): Put {
  try {
    const { text, name, isTheirs } = mergeEntry(existing.replace(/^\uFEFF/, ''), {
      wanted,
      earlier: lockedEntry(earlier),
      taken,
    });
    // Of the entry alone: the rest of the file belongs to others. With its placeholders, which people fill in.
    const locked = { integrity: jsonDigest(wanted.entry), entry: name, written: wanted.entry };
    return { content: text, locked, changed: isTheirs ? `The entry '${name}' of '${path}'` : undefined };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InstallError(`'${path}' exists and was left as it is, because ${error.message}.`, { cause: error });
  }
}

/** The member of a file that the entry of an adapter is in; undefined for files of their own. */
function sectionOf({ framework, template_key }: Pick<LockedAdapter, 'framework' | 'template_key'>): string | undefined {
  return findTemplate(framework, template_key)?.entryOf?.section;
}

/** Names of entries of other entities in the same section of the same file. */
function takenNames(wanted: PlannedAdapter, { others }: AdapterJob): string[] {
  return others
    .flatMap(({ adapters }) => adapters)
    .flatMap((adapter) => {
      const isThere = adapter.path === wanted.path && sectionOf(adapter) === sectionOf(wanted);
      return isThere && typeof adapter.entry === 'string' ? [adapter.entry] : [];
    });
}

function putFile(content: string, { existing, earlier, path }: Place): Put {
  const locked = { integrity: textDigest(content) };
  if (existing === undefined || existing === content || textDigest(existing) === earlier?.integrity)
    return { content, locked };
  if (earlier) return { content: existing, locked, changed: `'${path}'` };
  throw new InstallError(`'${path}' exists, and this install did not write it: move it away, or choose another path.`);
}
