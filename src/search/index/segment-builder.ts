// New documents → a segment: what each term says about each of them (BM25F), and the names they go by.
import { createHash } from 'node:crypto';
import type { IndexEntry } from '../engine/search-index.ts';
import { nameKey, wordsOf } from '../words.ts';
import { documentFromManifest, FIELDS, type Field, nameAlone, type SearchDocument } from './document.ts';
import { facetsFrom } from './facets.ts';
import { nameTerms } from './names.ts';
import type { Posting } from './postings.ts';
import { DIGEST_BYTES, memberFlags } from './segment.ts';
import { writeSegment } from './segment-writer.ts';
import type { Source, SourceDocument, SourceMember } from './source.ts';
import { compareByCodePoints } from './strings.ts';

/** All versions of one type and name, and the manifest of the one that describes them. */
export interface Family {
  versions: readonly IndexEntry[];
  /** Of `describing(versions)`. */
  manifest: string | undefined;
}

/** How much a word counts by where it stands, what length is usual there, and how much more than that counts against it. */
const FIELD_WEIGHTS: Record<Field, { weight: number; usualLength: number; lengthPenalty: number }> = {
  name: { weight: 2, usualLength: 3, lengthPenalty: 0.3 },
  title: { weight: 2, usualLength: 3, lengthPenalty: 0.3 },
  capabilities: { weight: 2, usualLength: 6, lengthPenalty: 0.3 },
  tags: { weight: 1, usualLength: 6, lengthPenalty: 0.3 },
  summary: { weight: 2, usualLength: 30, lengthPenalty: 0.5 },
  description: { weight: 2, usualLength: 30, lengthPenalty: 0.5 },
  tools: { weight: 0.5, usualLength: 60, lengthPenalty: 0.5 },
  publisher: { weight: 0.5, usualLength: 2, lengthPenalty: 0.3 },
};

/** Where repetition stops to count. */
const SATURATION = 1.2;
/** No term gives more than this times its rarity. */
export const HIGHEST_IMPACT = SATURATION + 1;
const IMPACT_STEPS = 255;
/** What one step of a stored impact is worth. */
export const IMPACT_STEP = HIGHEST_IMPACT / IMPACT_STEPS;

export function buildSegment(families: readonly Family[]): SharedArrayBuffer {
  return writeSegment([sourceFromFamilies(families)]);
}

/** The newest stable version describes a name; without one, the newest pre-release. */
export function describing(versions: readonly IndexEntry[]): IndexEntry | undefined {
  return versions.toSorted(byPreference)[0];
}

function sourceFromFamilies(families: readonly Family[]): Source {
  const documents: SourceDocument[] = [];
  const postings = new Map<string, Posting[]>();
  for (const { versions, manifest } of families) {
    const document = documents.length;
    const sorted = versions.toSorted(byPreference);
    const [newest] = sorted;
    if (!newest) continue;
    const content = readDocument(newest.name, manifest);
    documents.push({ name: newest.name, digest: digestOf(content.meaning), members: membersFrom(sorted) });
    const slugs = sorted.map(({ slug }) => slug);
    const names = nameTerms({ name: newest.name, ownName: content.fields.name, title: content.fields.title, slugs });
    for (const term of names) append(postings, term, { document, impact: 1, fields: 0 });
    for (const [term, { impact, fields }] of impactsOf(content.fields)) {
      append(postings, term, { document, impact, fields });
    }
  }
  const terms = [...postings.keys()].sort(compareByCodePoints);
  return {
    documentCount: documents.length,
    isLive: () => true,
    document: (document) => documents[document] as SourceDocument,
    termCount: terms.length,
    term: (place) => terms[place] as string,
    postings: (place) => postings.get(terms[place] as string) as Posting[],
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
    facets: facetsFrom(entry.facets),
    quality: entry.quality,
    published: entry.publishedAt === null ? Number.NaN : Date.parse(entry.publishedAt),
    arrived: Date.parse(entry.createdAt),
    versionRank: byVersion.indexOf(entry),
  }));
}

/** A manifest that can no longer be read is still found by its name. */
function readDocument(name: string, manifest: string | undefined): SearchDocument {
  if (manifest === undefined) return nameAlone(name);
  try {
    return documentFromManifest(JSON.parse(manifest));
  } catch {
    return nameAlone(name);
  }
}

function digestOf(text: string): string {
  return createHash('sha256')
    .update(text)
    .digest('hex')
    .slice(0, 2 * DIGEST_BYTES);
}

/** The text of a document that the model reads, if it still has the digest. */
export function textToEmbed(name: string, manifest: string, digest: string): string | undefined {
  const { meaning } = readDocument(name, manifest);
  return digestOf(meaning) === digest ? meaning : undefined;
}

/** Stable versions come before pre-releases, newer ones before older ones. */
function byPreference(one: IndexEntry, other: IndexEntry): number {
  return Number(one.isPrerelease) - Number(other.isPrerelease) || byVersionOnly(one, other);
}

function byVersionOnly(one: IndexEntry, other: IndexEntry): number {
  if (one.versionKey !== other.versionKey) return one.versionKey > other.versionKey ? -1 : 1;
  return one.uid > other.uid ? -1 : 1;
}

/** BM25F: counts of each field, tamed by the field's length, weighted and added up before they saturate. */
function impactsOf(fields: Readonly<Record<Field, string>>): Map<string, { impact: number; fields: number }> {
  const weights = new Map<string, { weight: number; fields: number }>();
  for (const [place, field] of FIELDS.entries()) {
    const words = wordsOf(fields[field]);
    if (words.length === 0) continue;
    const { weight, usualLength, lengthPenalty } = FIELD_WEIGHTS[field];
    const each = weight / (1 - lengthPenalty + (lengthPenalty * words.length) / usualLength);
    const forms = words.flatMap(({ term, parts }) => (parts.length > 0 ? [...new Set([term, ...parts])] : term));
    // `pdf-table` is also found as `pdftable`, and by what is nearly that.
    if (field === 'name' && words.length > 1) forms.push(nameKey(fields.name));
    for (const form of forms) {
      const known = weights.get(form) ?? { weight: 0, fields: 0 };
      weights.set(form, { weight: known.weight + each, fields: known.fields | (1 << place) });
    }
  }
  return new Map(
    Array.from(weights, ([term, { weight, fields: bits }]) => [term, { impact: stepsOf(weight), fields: bits }]),
  );
}

function stepsOf(weight: number): number {
  const impact = (weight * HIGHEST_IMPACT) / (SATURATION + weight);
  return Math.min(IMPACT_STEPS, Math.max(1, Math.round(impact / IMPACT_STEP)));
}
