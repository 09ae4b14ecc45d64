// Plans which glue code to write, and where.
import type { ClientName } from '../../catalog/client-config.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import { type InstallPlan, LOCKFILE_NAME, type LockedEntity, type PlannedAdapter } from '../contract.ts';
import type { LockedEntities } from '../lockfile/lockfile.ts';
import type { InstallSubject } from '../subject.ts';
import { relativePathFault } from '../target/files.ts';
import { FOLLOWED, HUB_FOLDER, overlap, RESERVED } from '../target/places.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { CLIENT_KEY, findTemplate, genericStub, notWritten, unconnected } from './templates.ts';

const LONGEST_WORD = 100;

export interface AdapterPlanJob extends LockedEntities {
  subject: InstallSubject;
  /** Why the entity cannot be reached or started; undefined if it can. */
  unreachable: string | undefined;
  /** Clients to configure in addition to the adapters of the manifest. */
  clients: readonly ClientName[];
}

export function planAdapters(job: AdapterPlanJob): PlannedAdapter[] {
  const { subject, others } = job;
  const folders = subject.artifacts.flatMap(({ spec }) => text(asObject(spec).dest) || []);
  const paths: string[] = [];
  return wantedAdapters(job).map((adapter) => {
    const [framework, template_key] = [word(adapter.framework), word(adapter.template_key)];
    const template = findTemplate(framework, template_key);
    const generic = template === undefined;
    // Nothing is written for templates with a note.
    const isWritten = template?.note === undefined;
    const chosen = isWritten ? text(adapter.path).replace(/^(\.\/)+/, '') : '';
    const path = chosen || usualPath(template ?? genericStub(framework, template_key), subject, others);
    const fault = wordFault(adapter) ?? (isWritten ? pathFault(path, { template, folders, paths }) : undefined);
    paths.push(path);
    return {
      framework,
      template_key,
      path,
      generic,
      ...(fault ? { fault } : remark({ framework, path }, template, job)),
    };
  });
}

function remark(
  { framework, path }: Pick<PlannedAdapter, 'framework' | 'path'>,
  template: AdapterTemplate | undefined,
  { unreachable }: AdapterPlanJob,
): Pick<PlannedAdapter, 'note' | 'warning'> {
  const isOfClient = template?.note !== undefined || template?.entryOf !== undefined;
  if (unreachable)
    return isOfClient ? { note: notWritten(framework, unreachable) } : { warning: unconnected(path, unreachable) };
  return template?.note ? { note: template.note } : {};
}

/** The first fault in the existing configuration of a client. Unlike a fault of the manifest, the user can fix it. */
export function findConfigFault({ adapters }: InstallPlan, subject: InstallSubject): string | undefined {
  const templateOf = (each: PlannedAdapter) => findTemplate(each.framework, each.template_key);
  const isConfig = (each: PlannedAdapter) => templateOf(each)?.entryOf && templateOf(each)?.path(subject) === each.path;
  return adapters.find((each) => each.fault && isConfig(each))?.fault;
}

/** The adapters of the manifest, then the clients that the user requested now or earlier. */
function wantedAdapters({ subject: { adapters }, clients, known }: AdapterPlanJob): JsonObject[] {
  const earlier = (known?.adapters ?? []).filter(({ asked }) => asked === true).map(({ framework }) => framework);
  const templateOf = (each: JsonObject) => findTemplate(word(each.framework), word(each.template_key));
  const listed = adapters.map(templateOf);
  const asked = [...new Set<string>([...clients, ...earlier])]
    .map((framework) => ({ framework, template_key: CLIENT_KEY }))
    .filter((each) => !listed.includes(templateOf(each)));
  return [...adapters, ...asked];
}

/** If two entities have the same name, the later one is named by its slug. */
function usualPath(template: AdapterTemplate, subject: InstallSubject, others: readonly LockedEntity[]): string {
  const slug = subject.slug.replaceAll('/', '-');
  const paths = [subject.name, slug, `${subject.type}-${slug}`].map((name) => template.path({ ...subject, name }));
  const taken = others.flatMap(({ adapters }) => adapters).filter(({ entry }) => entry === undefined);
  const isFree = (path: string) => !taken.some((each) => isSamePath(each.path, path));
  return paths.find(isFree) ?? template.path(subject);
}

function isSamePath(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

function wordFault(adapter: JsonObject): string | undefined {
  if (text(adapter.framework) === '') return 'framework is missing.';
  const long = ['framework', 'template_key'].find((name) => text(adapter[name]).length > LONGEST_WORD);
  return long && `${long} must not be longer than ${LONGEST_WORD} characters.`;
}

interface PathRules {
  template: AdapterTemplate | undefined;
  /** Folders of artifacts, which installs replace as a whole. */
  folders: readonly string[];
  /** Paths of the preceding adapters: two adapters cannot write one file. */
  paths: readonly string[];
}

function pathFault(path: string, { template, folders, paths }: PathRules): string | undefined {
  const shown = `path '${path.slice(0, 120)}'`;
  const fault = path.endsWith('/') ? 'must name a file, not a folder' : relativePathFault(path);
  if (fault) return `${shown} ${fault}.`;
  // Some file systems are case-insensitive.
  const [first = '', ...others] = path.toLowerCase().split('/');
  if (first === HUB_FOLDER || first === LOCKFILE_NAME) return `${shown} is reserved for the hub.`;
  const taken = RESERVED.includes(first) ? first : [first, ...others].find((name) => name === '.git');
  if (taken) return `${shown} belongs to '${taken}', which other programs write.`;
  const name = others.at(-1) ?? first;
  if (FOLLOWED.test(name))
    return `${shown} is a file that other programs run or that coding agents read as instructions.`;
  // Clients and other programs run commands from such files.
  if ([first, ...others].some((segment) => segment.startsWith('.')) && !template?.entryOf)
    return `${shown} has a name that starts with '.', which is allowed only for adapters of MCP clients.`;
  const folder = folders.find((each) => overlap(each, path));
  if (folder) return `${shown} is where an artifact of this manifest goes ('${folder}').`;
  const isRepeated = paths.some((each) => isSamePath(each, path));
  return isRepeated ? `another adapter of this manifest writes '${path}' too.` : undefined;
}

function word(value: unknown): string {
  return text(value).slice(0, LONGEST_WORD);
}

export function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
