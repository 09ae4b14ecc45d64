// Keeps the search tables in step with the catalog: family by family, after the changes that the catalog records.
import { readDocument, textDigest } from '../document.ts';
import { facetValues } from '../facet-values.ts';
import { nameKey } from '../words.ts';
import { documentWords } from './document-words.ts';
import type { FamilyKey, FamilyMember, IndexedDocument, IndexedFamily, IndexProgress, SearchTables } from './store.ts';

type Tables = Pick<
  SearchTables,
  'catalogRevision' | 'progress' | 'changedFamilies' | 'familiesAfter' | 'members' | 'described' | 'manifests' | 'save'
>;

const FAMILIES_AT_ONCE = 200;
const FIRST: FamilyKey = { type: '', name: '' };
/** A name that is shorter means nothing. */
const SHORTEST_NAME = 2;

/** Stops between two steps when the signal is aborted; the next call goes on from there. */
export async function indexChanges(tables: Tables, signal: AbortSignal): Promise<void> {
  for (let progress = await tables.progress(); !signal.aborted; ) {
    const next = await nextStep(tables, progress);
    if (!next) return;
    for (const families of pagesOf(next.families)) await tables.save(await indexed(tables, families), progress);
    progress = next.progress;
    await tables.save([], progress);
  }
}

/** Undefined when the tables show the whole catalog. */
async function nextStep(
  tables: Tables,
  { revision, build }: IndexProgress,
): Promise<{ families: FamilyKey[]; progress: IndexProgress } | undefined> {
  if (build) return buildStep(tables, revision, build);
  const current = await tables.catalogRevision();
  if (revision === current) return undefined;
  const changes = revision === undefined ? undefined : await tables.changedFamilies(revision);
  if (changes) return { families: changes.families, progress: { revision: changes.revision } };
  return buildStep(tables, revision, { began: current, after: FIRST });
}

async function buildStep(
  tables: Tables,
  revision: number | undefined,
  { began, after }: NonNullable<IndexProgress['build']>,
): Promise<{ families: FamilyKey[]; progress: IndexProgress }> {
  const families = await tables.familiesAfter(after, FAMILIES_AT_ONCE);
  const last = families.at(-1);
  return { families, progress: last ? { revision, build: { began, after: last } } : { revision: began } };
}

async function indexed(tables: Tables, families: readonly FamilyKey[]): Promise<IndexedFamily[]> {
  const [members, described] = await Promise.all([tables.members(families), tables.described(families)]);
  const digests = new Map(described.map((family) => [keyOf(family), family.digest]));
  const byFamily = Map.groupBy(members.toSorted(newestFirst), keyOf);
  const newest = [...byFamily.values()].flatMap(([first]) => first ?? []);
  const changed = newest.filter((member) => digests.get(keyOf(member)) !== member.manifestDigest);
  const manifests = new Map(
    (await tables.manifests(changed.map(({ uid }) => uid))).map((row) => [row.uid, row.manifest]),
  );
  const documents = new Map(
    changed.flatMap((member) => {
      const manifest = manifests.get(member.uid);
      return manifest === undefined ? [] : [[keyOf(member), describe(member, manifest)] as const];
    }),
  );
  return families.map(({ type, name }) => {
    const key = keyOf({ type, name });
    const document = documents.get(key);
    return {
      type,
      name,
      members: (byFamily.get(key) ?? []).map(({ type: _, name: __, manifestDigest: ___, facets, ...member }) => ({
        ...member,
        slugKey: nameKey(member.slug),
        facets: facetValues(facets),
      })),
      ...(document && { document }),
    };
  });
}

function describe({ uid, name, manifestDigest }: FamilyMember, manifest: string): IndexedDocument {
  const document = readDocument(name, manifest);
  const whole = nameKey(name);
  const parts = new Set([nameKey(document.fields.name), nameKey(document.fields.title)]);
  return {
    uid,
    manifestDigest,
    textDigest: textDigest(document.meaning),
    words: documentWords(document),
    names: [{ key: whole, isWhole: true }, ...[...parts].map((key) => ({ key, isWhole: false }))].filter(
      ({ key }) => key.length >= SHORTEST_NAME,
    ),
  };
}

/** Stable versions come before pre-releases. */
function newestFirst(one: FamilyMember, other: FamilyMember): number {
  if (one.isPrerelease !== other.isPrerelease) return one.isPrerelease ? 1 : -1;
  if (one.versionKey !== other.versionKey) return one.versionKey > other.versionKey ? -1 : 1;
  return one.uid > other.uid ? -1 : 1;
}

function keyOf({ type, name }: FamilyKey): string {
  return `${type} ${name}`;
}

function* pagesOf(families: readonly FamilyKey[]): Generator<FamilyKey[]> {
  for (let start = 0; start < families.length; start += FAMILIES_AT_ONCE) {
    yield families.slice(start, start + FAMILIES_AT_ONCE);
  }
}
