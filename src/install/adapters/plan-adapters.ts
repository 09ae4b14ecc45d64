// Which glue code will be written, and where.
import { isJsonObject, type JsonObject } from '../../lib/json.ts';
import type { LockedAdapter, PlannedAdapter } from '../contract.ts';
import type { OthersPlaces } from '../known-places.ts';
import { clientFileAt, OTHERS_PLACES, overlap, placeFault } from '../places.ts';
import type { InstallSubject } from '../subject.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { genericStub } from './generic.ts';
import { findTemplate } from './templates.ts';

/** Of the name of a framework, and of a template's. */
const LONGEST_WORD = 100;

interface Surroundings {
  /** Of the artifacts of the same manifest. */
  places: readonly string[];
  others: OthersPlaces;
}

export function planAdapters(subject: InstallSubject, { places, others }: Surroundings): PlannedAdapter[] {
  const planned: PlannedAdapter[] = [];
  for (const adapter of subject.adapters) {
    const [framework, templateKey] = [adapter.framework, adapter.template_key].map((word) =>
      text(word).slice(0, LONGEST_WORD),
    ) as [string, string];
    const template = findTemplate(framework, templateKey);
    const path =
      text(adapter.path).replace(/^(\.\/)+/, '') ||
      usualPath(template ?? genericStub(framework, templateKey), subject, others);
    const fault = wordFault(adapter) ?? pathFault(path) ?? clientFault(path, template) ?? insideFault(path, places);
    planned.push({
      framework,
      template_key: templateKey,
      path,
      generic: template === undefined,
      ...(fault ? { fault } : {}),
    });
  }
  return planned.map((each, index) => (isRepeated(each, planned.slice(0, index)) ? repeated(each) : each));
}

/** Two entities may go by one name: the later one is then told apart by its slug. */
function usualPath(template: AdapterTemplate, subject: InstallSubject, { adapters }: OthersPlaces): string {
  const slug = subject.slug.replaceAll('/', '-');
  const paths = [subject.name, slug, `${subject.type}-${slug}`].map((name) => template.path({ ...subject, name }));
  const isFree = (path: string) => !adapters.some(({ adapter }) => isFileAt(path, adapter));
  return paths.find(isFree) ?? template.path(subject);
}

function isFileAt(path: string, adapter: LockedAdapter): boolean {
  return adapter.entry === undefined && adapter.path.toLowerCase() === path.toLowerCase();
}

/** A folder of an artifact is replaced whole, and is checked by everything that is in it. */
function insideFault(path: string, places: readonly string[]): string | undefined {
  const place = places.find((each) => overlap(each, path));
  return place && `path '${path.slice(0, 120)}' is where an artifact of this manifest goes ('${place}').`;
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
  const taken = OTHERS_PLACES.includes(first) ? first : others.find((name) => name === '.git');
  return taken && `path '${path.slice(0, 120)}' belongs to '${taken}', which others write.`;
}

/** A file of its own would take the place of all entries, and its text would be what the client reads. */
function clientFault(path: string, template: AdapterTemplate | undefined): string | undefined {
  const file = template?.section === undefined ? clientFileAt(path) : undefined;
  return (
    file &&
    `path '${path.slice(0, 120)}' belongs to '${file}', the configuration of an MCP client, which only the adapters of those clients write.`
  );
}

/** Entries of one configuration file are merged; a file of its own can have one content only. */
function isRepeated(adapter: PlannedAdapter, earlier: readonly PlannedAdapter[]): boolean {
  return earlier.some(({ path }) => path.toLowerCase() === adapter.path.toLowerCase());
}

function repeated(adapter: PlannedAdapter): PlannedAdapter {
  return { ...adapter, fault: adapter.fault ?? `another adapter of this manifest writes '${adapter.path}' as well.` };
}

export function paramsOf(adapter: JsonObject | undefined): JsonObject {
  return isJsonObject(adapter?.params) ? adapter.params : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
