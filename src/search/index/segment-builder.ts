// Builds a segment from new documents: their terms with impacts, and their names.
import { readDocument, textDigest } from '../document.ts';
import type { IndexEntry } from '../engine/search-index.ts';
import { facetValues } from '../facet-values.ts';
import { HIGHEST_IMPACT, impactsOf } from '../impacts.ts';
import { sortName } from '../sort.ts';
import { nameTerms } from './names.ts';
import type { Posting } from './postings.ts';
import { memberFlags } from './segment.ts';
import { writeSegment } from './segment-writer.ts';
import type { Source, SourceDocument, SourceMember } from './source.ts';
import { compareByCodePoints } from './strings.ts';

export interface Family {
  /** All versions of one type and name; at least one. */
  versions: readonly IndexEntry[];
  /** The manifest of `describing(versions)`. */
  manifest: string | undefined;
}

const IMPACT_STEPS = 255;
/** The value of one step of a stored impact. */
export const IMPACT_STEP = HIGHEST_IMPACT / IMPACT_STEPS;

export function buildSegment(families: readonly Family[]): SharedArrayBuffer {
  return writeSegment([sourceFromFamilies(families)]);
}

/** A name is described by its newest stable version, or else by its newest pre-release. */
export function describing(versions: readonly IndexEntry[]): IndexEntry {
  return versions.toSorted(byPreference)[0] as IndexEntry;
}

function sourceFromFamilies(families: readonly Family[]): Source {
  const documents: SourceDocument[] = [];
  const postings = new Map<string, Posting[]>();
  for (const { versions, manifest } of families) {
    const document = documents.length;
    const sorted = versions.toSorted(byPreference);
    const newest = sorted[0] as IndexEntry;
    const content = readDocument(newest.name, manifest ?? '');
    documents.push({
      name: newest.name,
      sortName: sortName(newest),
      digest: textDigest(content.meaning),
      members: membersFrom(sorted),
    });
    const names = nameTerms(
      [newest.name, ...sorted.map(({ slug }) => slug)],
      [content.fields.name, content.fields.title],
    );
    for (const term of names) append(postings, term, { document, impact: 1, fields: 0 });
    for (const [term, { impact, fields }] of impactsOf(content.fields)) {
      append(postings, term, { document, impact: stepsOf(impact), fields });
    }
  }
  const terms = [...postings.keys()].sort(compareByCodePoints);
  return {
    documentCount: documents.length,
    isLive: () => true,
    document: (document) => documents[document] as SourceDocument,
    termCount: terms.length,
    term: (position) => terms[position] as string,
    postings: (position) => postings.get(terms[position] as string) as Posting[],
  };
}

function append(postings: Map<string, Posting[]>, term: string, posting: Posting): void {
  const known = postings.get(term);
  if (known) known.push(posting);
  else postings.set(term, [posting]);
}

function membersFrom(sorted: readonly IndexEntry[]): SourceMember[] {
  const byVersion = sorted.toSorted(byVersionOnly);
  return sorted.map((entry) => ({
    uid: entry.uid,
    flags: memberFlags(entry),
    facets: facetValues(entry.facets),
    quality: entry.quality,
    published: entry.publishedAt === null ? Number.NaN : Date.parse(entry.publishedAt),
    arrived: Date.parse(entry.createdAt),
    versionRank: byVersion.indexOf(entry),
  }));
}

/** Stable versions before pre-releases, newer before older. */
export function byPreference(one: IndexEntry, other: IndexEntry): number {
  return Number(one.isPrerelease) - Number(other.isPrerelease) || byVersionOnly(one, other);
}

function byVersionOnly(one: IndexEntry, other: IndexEntry): number {
  if (one.versionKey !== other.versionKey) return one.versionKey > other.versionKey ? -1 : 1;
  return one.uid > other.uid ? -1 : 1;
}

function stepsOf(impact: number): number {
  return Math.min(IMPACT_STEPS, Math.max(1, Math.round(impact / IMPACT_STEP)));
}
