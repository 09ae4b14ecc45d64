// Writes the glue code of a plan into the target.
import { PLACEHOLDER } from '../../catalog/client-config.ts';
import type { Launch } from '../../catalog/launch/launch.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { jsonDigest } from '../../lib/json-digest.ts';
import type { InstallJob } from '../build-artifacts.ts';
import type { InstallRequest, LockedAdapter, PlannedAdapter } from '../contract.ts';
import { explain, InstallError } from '../errors.ts';
import { assertWritable, readInside, writeFileInside } from '../target/files.ts';
import { textDigest } from '../target/tree.ts';
import type { Rendered } from './adapter-template.ts';
import { mergeEntry } from './config-file.ts';
import { lockedEntry, renderLocked } from './locked-adapter.ts';
import { text } from './plan-adapters.ts';
import { findTemplate, genericStub, unconnected } from './templates.ts';

export interface WrittenAdapters {
  locked: LockedAdapter[];
  /** Paths of new or changed files. */
  files: string[];
  /** For example, that a client got no entry because the entity cannot be reached. */
  warnings: string[];
  errors: string[];
  /** Entries for users to paste into their own files. */
  pastes: { file: string; text: string }[];
}

/** `launch` describes how to start the server after the install. */
type AdapterJob = Pick<InstallJob, 'targetDir' | 'subject' | 'launch' | 'known' | 'others'> & {
  request: Pick<InstallRequest, 'frozen' | 'force'>;
  planned: readonly PlannedAdapter[];
  /** Nothing is written. */
  isDryRun?: boolean;
};

export async function writeAdapters(job: AdapterJob): Promise<WrittenAdapters> {
  const written: WrittenAdapters = { locked: [], files: [], warnings: [], errors: [], pastes: [] };
  for (const adapter of job.planned) {
    try {
      if (adapter.fault) throw new InstallError(adapter.fault);
      await writeAdapter(adapter, job, written);
    } catch (error) {
      const what = job.isDryRun ? '' : `The adapter for '${adapter.framework}' was not written: `;
      written.errors.push(`${what}${explain(error)}`);
    }
  }
  return written;
}

/** Placeholder for the command of a bundle, which is known only after the build. */
const NOT_KNOWN_YET = { kind: 'command', command: '', args: [], env: [] } satisfies Launch;

/** Returns each adapter's plan with the result that its step would report. */
export function previewAdapters(job: AdapterJob): Promise<PlannedAdapter[]> {
  const launch = job.launch.kind === 'none' ? NOT_KNOWN_YET : job.launch;
  return Array.fromAsync(job.planned, async (adapter) => {
    if (adapter.fault || adapter.note) return adapter;
    const { warnings, errors } = await writeAdapters({ ...job, launch, planned: [adapter], isDryRun: true });
    const fault = errors.join(' ');
    const warning = [...(adapter.warning ? [adapter.warning] : []), ...warnings].join(' ');
    return { ...adapter, ...(fault ? { fault } : {}), ...(warning ? { warning } : {}) };
  });
}

async function writeAdapter(adapter: PlannedAdapter, job: AdapterJob, written: WrittenAdapters): Promise<void> {
  const { framework, template_key, path } = adapter;
  const { frozen, force } = job.request;
  const isForced = force === true;
  const earlier = job.known?.adapters.find((each) => each.path === path);
  const isThis = (each: JsonObject) => text(each.framework) === framework && text(each.template_key) === template_key;
  const listed = job.subject.adapters.find(isThis);
  const isLocked = frozen && earlier !== undefined;
  const rendered = isLocked ? renderLocked(earlier) : render(adapter, asObject(listed?.params), job);
  if (rendered.kind === 'paste') {
    written.warnings.push(rendered.note);
    if (rendered.text) written.pastes.push({ file: path, text: rendered.text });
    return;
  }
  if (job.launch.kind === 'none' && rendered.kind === 'file' && !isLocked)
    written.warnings.push(unconnected(path, job.launch.reason));
  const existing = await readInside(job.targetDir, path);
  const others = job.others.flatMap(({ adapters }) => adapters);
  const taken = others.flatMap((each) => (each.path === path && each.entry) || []);
  const file = { existing, earlier, path, isForced, taken };
  const put = rendered.kind === 'entry' ? putEntry(rendered, file) : putFile(rendered.content, file);
  const { content, locked, changed, renamed } = put;
  if (content !== existing) {
    await (job.isDryRun ? assertWritable(job.targetDir, path) : writeFileInside(job.targetDir, path, content));
    written.files.push(path);
  }
  if (renamed) written.warnings.push(renamed);
  const placeholders = rendered.kind === 'entry' ? JSON.stringify(rendered.entry).match(PLACEHOLDER) : null;
  for (const each of new Set(placeholders))
    if (content.includes(each)) written.warnings.push(`Replace ${each} in '${path}' with its value.`);
  // Changes by a person are kept. A frozen install accepts them only if an earlier install kept them.
  if (changed && isForced) written.warnings.push(`${changed}, and is replaced because of --force.`);
  else if (changed && !frozen) written.warnings.push(`${changed}, and is left as it is. --force replaces it.`);
  else if (changed && !earlier?.kept)
    written.errors.push(`${changed}. Install without --frozen to keep it as it is, or with --force to replace it.`);
  const kept = changed && !isForced ? { kept: true } : {};
  // Later installs also write clients that the user requested.
  written.locked.push({ framework, template_key, path, ...locked, ...kept, ...(listed ? {} : { asked: true }) });
}

function render({ framework, template_key, path }: PlannedAdapter, params: JsonObject, job: AdapterJob): Rendered {
  const { subject, launch, targetDir } = job;
  const template = findTemplate(framework, template_key) ?? genericStub(framework, template_key);
  return template.render({ subject, params, path, targetDir, launch });
}

interface FileState {
  existing: string | undefined;
  earlier: LockedAdapter | undefined;
  path: string;
  isForced: boolean;
  /** Names of entries in the file that belong to other entities. */
  taken: readonly string[];
}

interface Put {
  content: string;
  locked: Pick<LockedAdapter, 'integrity' | 'entry' | 'written' | 'inputs'>;
  /** The start of a sentence, if a person changed the file. */
  changed?: string | undefined;
  renamed?: string | undefined;
}

const CHANGED = 'has changed since it was installed';
const FOREIGN = 'was not written by this install';

function putEntry(wanted: Extract<Rendered, { kind: 'entry' }>, file: FileState): Put {
  const { existing = '', earlier, path, ...rules } = file;
  const { entry: written, inputs } = wanted;
  try {
    const merged = mergeEntry(existing, { wanted, earlier: lockedEntry(earlier), ...rules });
    const { text: content, name: entry, isTheirs } = merged;
    const asked = inputs.length > 0 ? { inputs: [...inputs] } : {};
    // The digest covers only the entry, with its placeholders: others may edit the rest of the file.
    const locked = { integrity: jsonDigest(written), entry, written, ...asked };
    const changed = isTheirs ? `The entry '${entry}' of '${path}' ${CHANGED}` : undefined;
    if (entry === wanted.name || entry === earlier?.entry) return { content, locked, changed };
    return { content, locked, renamed: `'${path}' has another '${wanted.name}', so the entry is named '${entry}'.` };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const what = `'${path}' cannot be changed, because ${error.message}`;
    throw new InstallError(`${what}. Fix it or move it away, then install again.`, { cause: error });
  }
}

function putFile(content: string, { existing, earlier, path, isForced }: FileState): Put {
  const locked = { integrity: textDigest(content), written: content };
  const isOurs = existing === undefined || existing === content || textDigest(existing) === earlier?.integrity;
  if (isOurs) return { content, locked };
  if (isForced || earlier)
    return { content: isForced ? content : existing, locked, changed: `'${path}' ${earlier ? CHANGED : FOREIGN}` };
  throw new InstallError(`'${path}' exists, and this install did not write it: move it away, or use --force.`);
}
