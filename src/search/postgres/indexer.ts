// Keeps the search tables in step with the catalog: family by family, after the changes that the catalog records.
import { readDocument, type SearchDocument, textDigest } from '../document.ts';
import { pagesOf } from '../engine/embed-texts.ts';
import type { FamilyName } from '../engine/search-index.ts';
import { facetValues } from '../facet-values.ts';
import { impactsOf } from '../impacts.ts';
import { byPreference } from '../index/segment-builder.ts';
import { nameKey } from '../words.ts';
import { quoted } from './query.ts';
import type {
  FamilyMember,
  IndexedDocument,
  IndexedFamily,
  IndexProgress,
  LABEL_WEIGHTS,
  SearchTables,
} from './store.ts';

type Tables = Pick<
  SearchTables,
  'catalogRevision' | 'progress' | 'changedFamilies' | 'familiesAfter' | 'members' | 'described' | 'manifests' | 'save'
>;

const FAMILIES_AT_ONCE = 200;
/** A name that is shorter means nothing. */
const SHORTEST_NAME = 2;
/** From which impact on a word gets which label. */
const LABELS: readonly { label: keyof typeof LABEL_WEIGHTS; from: number }[] = [
  { label: 'D', from: 0 },
  { label: 'C', from: 0.7 },
  { label: 'B', from: 1.2 },
  { label: 'A', from: 1.6 },
];
/** A `tsvector` takes no more than a megabyte; a manifest of so many different words is not one to be found by all of them. */
const MOST_WORDS = 5_000;

/** Stops between two steps when the signal is aborted; the next call goes on from there. */
export async function indexChanges(tables: Tables, signal: AbortSignal): Promise<void> {
  for (let progress = await tables.progress(); !signal.aborted; ) {
    const next = await nextStep(tables, progress);
    if (!next) return;
    for (const families of pagesOf(next.families, FAMILIES_AT_ONCE))
      await tables.save(await indexed(tables, families), progress);
    progress = next.progress;
    await tables.save([], progress);
  }
}

/** Undefined when the tables show the whole catalog. */
async function nextStep(
  tables: Tables,
  { revision, build }: IndexProgress,
): Promise<{ families: FamilyName[]; progress: IndexProgress } | undefined> {
  if (build) return buildStep(tables, revision, build);
  const current = await tables.catalogRevision();
  if (revision === current) return undefined;
  const changes = revision === undefined ? undefined : await tables.changedFamilies(revision);
  if (changes) return { families: changes.families, progress: { revision: changes.revision } };
  return buildStep(tables, revision, { began: current, after: undefined });
}

async function buildStep(
  tables: Tables,
  revision: number | undefined,
  { began, after }: NonNullable<IndexProgress['build']>,
): Promise<{ families: FamilyName[]; progress: IndexProgress }> {
  const families = await tables.familiesAfter(after, FAMILIES_AT_ONCE);
  const last = families.at(-1);
  return { families, progress: last ? { revision, build: { began, after: last } } : { revision: began } };
}

async function indexed(tables: Tables, families: readonly FamilyName[]): Promise<IndexedFamily[]> {
  const [members, described] = await Promise.all([tables.members(families), tables.described(families)]);
  const digests = new Map(described.map((family) => [keyOf(family), family.digest]));
  const byFamily = Map.groupBy(members.toSorted(byPreference), keyOf);
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

/** The `tsvector` that a document's words are found and scored by. */
function documentWords({ fields }: SearchDocument): string {
  return [...impactsOf(fields)]
    .slice(0, MOST_WORDS)
    .map(([term, { impact }]) => `${quoted(term)}:1${LABELS.findLast(({ from }) => impact >= from)?.label}`)
    .join(' ');
}

function keyOf({ type, name }: FamilyName): string {
  return `${type} ${name}`;
}
