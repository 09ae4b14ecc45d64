// Which glue code will be written, and where.
import type { ClientName } from '../../catalog/client-config.ts';
import type { Launch } from '../../catalog/launch/launch.ts';
import { asObject, type JsonObject } from '../../lib/json.ts';
import type { LockedAdapter, LockedEntity, Lockfile, PlannedAdapter } from '../contract.ts';
import { withoutEntity } from '../lockfile/lockfile.ts';
import type { InstallSubject } from '../subject.ts';
import { clientFileAt, overlap, placeFault, RESERVED } from '../target/places.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { CLIENT_KEY, findTemplate, genericStub } from './templates.ts';

/** Of the name of a framework, and of a template's. */
const LONGEST_WORD = 100;

export interface AdapterPlanJob {
  subject: InstallSubject;
  launch: Launch;
  lockfile: Lockfile | undefined;
  /** What the lockfile says of the entity. */
  locked: LockedEntity | undefined;
  /** Clients whose configuration is asked for, whether or not the manifest has adapters for them. */
  clients: readonly ClientName[];
}

export function planAdapters({ subject, launch, lockfile, locked, clients }: AdapterPlanJob): PlannedAdapter[] {
  const others = othersOf(lockfile, subject.uid);
  const folders = subject.artifacts.flatMap(({ spec }) => text(asObject(spec).dest) || []);
  const planned = wantedAdapters(subject, { clients, locked }).map((adapter): PlannedAdapter => {
    const [framework, template_key] = [word(adapter.framework), word(adapter.template_key)];
    const template = findTemplate(framework, template_key);
    const chosen = template?.note === undefined ? text(adapter.path).replace(/^(\.\/)+/, '') : '';
    const path = chosen || usualPath(template ?? genericStub(framework, template_key), subject, others);
    const fault =
      wordFault(adapter) ??
      (template?.note === undefined
        ? (pathFault(path) ?? clientFault(path, template) ?? insideFault(path, folders))
        : undefined);
    const isGeneric = template === undefined;
    const isUnreachable = launch.kind === 'none' && !isGeneric;
    const note = isUnreachable ? unreachable(framework, launch.reason) : template?.note;
    return { framework, template_key, path, generic: isGeneric, ...(fault ? { fault } : note ? { note } : {}) };
  });
  return planned.map((each, index) => (isRepeated(each, planned.slice(0, index)) ? repeated(each) : each));
}

/** Those of the manifest, then the clients that are asked for now or were in an earlier install. */
function wantedAdapters(
  { adapters }: InstallSubject,
  { clients, locked }: Pick<AdapterPlanJob, 'clients' | 'locked'>,
): JsonObject[] {
  const earlier = (locked?.adapters ?? []).filter(({ asked }) => asked === true).map(({ framework }) => framework);
  const asked = adaptersFor([...new Set<string>([...clients, ...earlier])]);
  const isListed = (wanted: JsonObject) =>
    adapters.some((each) => findTemplate(word(each.framework), word(each.template_key)) === templateOf(wanted));
  return [...adapters, ...asked.filter((each) => !isListed(each))];
}

/** The adapters that a manifest would have for the clients. */
function adaptersFor(clients: readonly string[]): JsonObject[] {
  return clients.map((framework) => ({ framework, template_key: CLIENT_KEY }));
}

function templateOf({ framework, template_key }: JsonObject): AdapterTemplate | undefined {
  return findTemplate(word(framework), word(template_key));
}

export function unreachable(framework: string, reason: string): string {
  return `Nothing is written for '${framework}', because the server cannot be reached or started. ${reason}`;
}

export interface Others {
  folders: readonly { path: string; id: string }[];
  adapters: readonly { adapter: LockedAdapter; id: string }[];
}

/** What belongs to other entities, as the lockfile says. */
export function othersOf(lockfile: Lockfile | undefined, uid: string): Others {
  const { entities } = lockfile ? withoutEntity(lockfile, uid) : { entities: [] };
  return {
    folders: entities.flatMap(({ id, artifacts }) =>
      artifacts.flatMap(({ path }) => (path === null ? [] : [{ id, path }])),
    ),
    adapters: entities.flatMap(({ id, adapters }) => adapters.map((adapter) => ({ id, adapter }))),
  };
}

/** Two entities may have one name: the later one is then named by its slug. */
function usualPath(template: AdapterTemplate, subject: InstallSubject, { adapters }: Others): string {
  const slug = subject.slug.replaceAll('/', '-');
  const paths = [subject.name, slug, `${subject.type}-${slug}`].map((name) => template.path({ ...subject, name }));
  const isFree = (path: string) =>
    !adapters.some(({ adapter }) => adapter.entry === undefined && isSamePath(adapter.path, path));
  return paths.find(isFree) ?? template.path(subject);
}

function isSamePath(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** A folder of an artifact is replaced whole. */
function insideFault(path: string, folders: readonly string[]): string | undefined {
  const folder = folders.find((each) => overlap(each, path));
  return folder && `path '${path.slice(0, 120)}' is where an artifact of this manifest goes ('${folder}').`;
}

function wordFault(adapter: JsonObject): string | undefined {
  if (text(adapter.framework) === '') return 'framework is missing.';
  const long = ['framework', 'template_key'].find((name) => text(adapter[name]).length > LONGEST_WORD);
  return long && `${long} must not be longer than ${LONGEST_WORD} characters.`;
}

function pathFault(path: string): string | undefined {
  const fault = path.endsWith('/') ? 'must name a file, not a folder' : placeFault(path);
  if (fault) return `path '${path.slice(0, 120)}' ${fault}.`;
  const [first = '', ...others] = path.toLowerCase().split('/');
  const taken = RESERVED.includes(first) ? first : others.find((name) => name === '.git');
  return taken && `path '${path.slice(0, 120)}' belongs to '${taken}', which other programs write.`;
}

/** A file of its own would replace all entries, and the client would start what it says. */
function clientFault(path: string, template: AdapterTemplate | undefined): string | undefined {
  const file = template?.entryOf === undefined ? clientFileAt(path) : undefined;
  return (
    file &&
    `path '${path.slice(0, 120)}' belongs to '${file}', the configuration of an MCP client, which only the adapters of those clients write.`
  );
}

/** Entries of one configuration file are merged; a file of its own can have one content only. */
function isRepeated(adapter: PlannedAdapter, earlier: readonly PlannedAdapter[]): boolean {
  return earlier.some(({ path }) => isSamePath(path, adapter.path));
}

function repeated({ note: _note, ...adapter }: PlannedAdapter): PlannedAdapter {
  return { ...adapter, fault: adapter.fault ?? `another adapter of this manifest writes '${adapter.path}' as well.` };
}

function word(value: unknown): string {
  return text(value).slice(0, LONGEST_WORD);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
