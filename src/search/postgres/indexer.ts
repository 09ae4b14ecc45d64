// Updates the search tables family by family from the recorded changes of the catalog.
import { readDocument, type SearchDocument, textDigest } from '../document.ts';
import { pagesOf } from '../engine/embed-texts.ts';
import { type FamilyName, familyKey, type SearchIndex } from '../engine/search-index.ts';
import { facetValues } from '../facet-values.ts';
import { impactsOf } from '../impacts.ts';
import { isName } from '../index/names.ts';
import { byPreference } from '../index/segment-builder.ts';
import { sortName } from '../sort.ts';
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

/** The catalog, and the tables to update from it. */
interface Indexing {
  index: Pick<SearchIndex, 'revision' | 'manifests'>;
  tables: SearchTables;
}

const FAMILIES_AT_ONCE = 200;
/** The minimum impact for each label. */
const LABELS: readonly { label: keyof typeof LABEL_WEIGHTS; from: number }[] = [
  { label: 'D', from: 0 },
  { label: 'C', from: 0.7 },
  { label: 'B', from: 1.2 },
  { label: 'A', from: 1.6 },
];
/** A `tsvector` holds at most a megabyte; no manifest needs to be found by more distinct words. */
const MOST_WORDS = 5_000;

/** Stops between two steps when the signal is aborted; the next call continues from there. */
export async function indexChanges({ index, tables }: Indexing, signal: AbortSignal): Promise<void> {
  for (let progress = await tables.progress(); !signal.aborted; ) {
    const next = await nextStep({ index, tables }, progress);
    if (!next) return;
    for (const families of pagesOf(next.families, FAMILIES_AT_ONCE))
      await tables.save(await indexed({ index, tables }, families), progress);
    progress = next.progress;
    await tables.save([], progress);
  }
}

/** Undefined when the tables contain the whole catalog. */
async function nextStep({ index, tables }: Indexing, progress: IndexProgress) {
  const { revision } = progress;
  let { build } = progress;
  if (!build) {
    const began = await index.revision();
    if (revision === began) return undefined;
    const changes = revision === undefined ? undefined : await tables.changedFamilies(revision);
    if (changes) return { families: changes.families, progress: { revision: changes.revision } };
    build = { began, after: undefined };
  }
  const families = await tables.familiesAfter(build.after, FAMILIES_AT_ONCE);
  const after = families.at(-1);
  return { families, progress: after ? { revision, build: { ...build, after } } : { revision: build.began } };
}

async function indexed({ index, tables }: Indexing, families: readonly FamilyName[]): Promise<IndexedFamily[]> {
  const [members, described] = await Promise.all([tables.members(families), tables.described(families)]);
  const digests = new Map(described.map((family) => [familyKey(family), family.digest]));
  const byFamily = Map.groupBy(members.toSorted(byPreference), familyKey);
  const newestOfEach = [...byFamily.values()].flatMap(([newest]) => newest ?? []);
  const changed = newestOfEach.filter((newest) => digests.get(familyKey(newest)) !== newest.manifestDigest);
  const read = await index.manifests(changed.map(({ uid }) => uid));
  const manifests = new Map(read.map(({ uid, manifest }) => [uid, manifest]));
  return families.map(({ type, name }) => {
    const versions = byFamily.get(familyKey({ type, name })) ?? [];
    const [newest] = versions;
    const manifest = newest && manifests.get(newest.uid);
    return {
      type,
      name,
      members: versions.map((member) => ({
        ...member,
        slugKey: nameKey(member.slug),
        sortName: sortName(newest ?? member),
        facetValues: facetValues(member.facets),
      })),
      ...(manifest !== undefined && { document: describe(newest as FamilyMember, manifest) }),
    };
  });
}

function describe({ uid, name, manifestDigest }: FamilyMember, manifest: string): IndexedDocument {
  const document = readDocument(name, manifest);
  const parts = new Set([document.fields.name, document.fields.title].map(nameKey));
  return {
    uid,
    manifestDigest,
    textDigest: textDigest(document.meaning),
    words: documentWords(document),
    names: [{ key: nameKey(name), isWhole: true }, ...Array.from(parts, (key) => ({ key, isWhole: false }))].filter(
      ({ key }) => isName(key),
    ),
  };
}

/** The `tsvector` for finding and scoring a document by its words. */
function documentWords({ fields }: SearchDocument): string {
  return [...impactsOf(fields)]
    .slice(0, MOST_WORDS)
    .map(([term, { impact }]) => `${quoted(term)}:1${LABELS.findLast(({ from }) => impact >= from)?.label}`)
    .join(' ');
}
