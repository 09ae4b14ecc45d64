// Sources → one segment. New segments and merged ones are written in the same way.

import { TEXT_DIGEST_BYTES } from '../document.ts';
import { lettersOf } from '../typing-errors.ts';
import { packColumns } from './columns.ts';
import { type Posting, writePosting } from './postings.ts';
import type { SegmentColumns } from './segment.ts';
import type { Source, SourceMember } from './source.ts';
import { compareByCodePoints, compareBytes, createByteWriter, createStringsWriter } from './strings.ts';

type TermColumns = Pick<
  SegmentColumns,
  'termBytes' | 'termOffsets' | 'termLetters' | 'postings' | 'postingStarts' | 'frequencies'
>;
type DocumentColumns = Omit<SegmentColumns, keyof TermColumns>;

export function writeSegment(sources: readonly Source[]): SharedArrayBuffer {
  return packColumns({ ...documentColumns(sources), ...termColumns(sources) });
}

function documentColumns(sources: readonly Source[]): DocumentColumns {
  const names = createStringsWriter();
  const texts = createTextNumbers();
  const memberStarts = [0];
  const members = createMemberWriter();
  for (const source of sources) {
    for (let place = 0; place < source.documentCount; place += 1) {
      if (!source.isLive(place)) continue;
      const { name, digest, members: versions } = source.document(place);
      const document = names.add(name);
      texts.add(digest);
      for (const member of versions) members.add(member, document);
      memberStarts.push(members.count());
    }
  }
  const { bytes: nameBytes, offsets: nameOffsets } = names.columns();
  return {
    nameBytes,
    nameOffsets,
    memberStarts: Uint32Array.from(memberStarts),
    ...texts.columns(),
    ...members.columns(),
  };
}

/** Documents with the same text share one. */
function createTextNumbers() {
  const numbers = new Map<string, number>();
  const texts: number[] = [];
  return {
    add(digest: string): void {
      const text = numbers.get(digest) ?? numbers.size;
      numbers.set(digest, text);
      texts.push(text);
    },
    columns(): Pick<DocumentColumns, 'texts' | 'digests' | 'textDocuments' | 'textDocumentStarts'> {
      const digests = new Uint8Array(numbers.size * TEXT_DIGEST_BYTES);
      for (const [digest, text] of numbers) digests.set(Buffer.from(digest, 'hex'), text * TEXT_DIGEST_BYTES);
      const starts = new Uint32Array(numbers.size + 1);
      for (const text of texts) starts[text + 1] = (starts[text + 1] as number) + 1;
      for (let text = 0; text < numbers.size; text += 1) {
        starts[text + 1] = (starts[text + 1] as number) + (starts[text] as number);
      }
      const next = starts.slice();
      const textDocuments = new Uint32Array(texts.length);
      for (const [document, text] of texts.entries()) {
        textDocuments[next[text] as number] = document;
        next[text] = (next[text] as number) + 1;
      }
      return { texts: Uint32Array.from(texts), digests, textDocuments, textDocumentStarts: starts };
    },
  };
}

function createMemberWriter() {
  const uids = createStringsWriter();
  const sets = createSetNumbers();
  const flags: number[] = [];
  const facetSets: number[] = [];
  const qualities: number[] = [];
  const published: number[] = [];
  const arrived: number[] = [];
  const versionRanks: number[] = [];
  const documents: number[] = [];
  return {
    count: () => flags.length,
    add(member: SourceMember, document: number): void {
      uids.add(member.uid);
      flags.push(member.flags);
      facetSets.push(sets.add(member.facets));
      qualities.push(member.quality);
      published.push(member.published);
      arrived.push(member.arrived);
      versionRanks.push(member.versionRank);
      documents.push(document);
    },
    columns(): Omit<
      DocumentColumns,
      'nameBytes' | 'nameOffsets' | 'memberStarts' | keyof ReturnType<ReturnType<typeof createTextNumbers>['columns']>
    > {
      const { bytes: uidBytes, offsets: uidOffsets } = uids.columns();
      const byArrival = Uint32Array.from(flags.keys()).sort(
        (one, other) =>
          (arrived[other] as number) - (arrived[one] as number) || compareBytes(uidBytes, uidOffsets, other, one),
      );
      return {
        uidBytes,
        uidOffsets,
        flags: Uint8Array.from(flags),
        facetSets: Uint32Array.from(facetSets),
        qualities: Float32Array.from(qualities),
        published: Float64Array.from(published),
        arrived: Float64Array.from(arrived),
        versionRanks: Uint32Array.from(versionRanks),
        memberDocuments: Uint32Array.from(documents),
        byArrival,
        ...sets.columns(),
      };
    },
  };
}

/** Many members have the same facets. */
function createSetNumbers() {
  const numbers = new Map<string, number>();
  const valueNumbers = new Map<string, number>();
  const values = createStringsWriter();
  const setValues: number[] = [];
  const setStarts = [0];
  const numberOf = (facet: string) => {
    const value = valueNumbers.get(facet) ?? values.add(facet);
    valueNumbers.set(facet, value);
    return value;
  };
  return {
    add(facets: readonly string[]): number {
      const set = facets.map(numberOf);
      const key = set.join(' ');
      const known = numbers.get(key);
      if (known !== undefined) return known;
      setValues.push(...set);
      setStarts.push(setValues.length);
      numbers.set(key, numbers.size);
      return numbers.size - 1;
    },
    columns(): Pick<DocumentColumns, 'setValues' | 'setStarts' | 'valueBytes' | 'valueOffsets'> {
      const { bytes: valueBytes, offsets: valueOffsets } = values.columns();
      return {
        setValues: Uint32Array.from(setValues),
        setStarts: Uint32Array.from(setStarts),
        valueBytes,
        valueOffsets,
      };
    },
  };
}

function termColumns(sources: readonly Source[]): TermColumns {
  const numbers = newNumbers(sources);
  const terms = createStringsWriter();
  const letters: number[] = [];
  const bytes = createByteWriter();
  const starts = [0];
  const frequencies: number[] = [];
  for (const { term, postings } of mergedTerms(sources, numbers)) {
    if (postings.length === 0) continue;
    terms.add(term);
    letters.push(lettersOf(term));
    let before = -1;
    for (const posting of postings) {
      writePosting(bytes, posting, before);
      before = posting.document;
    }
    starts.push(bytes.length);
    frequencies.push(postings.length);
  }
  const { bytes: termBytes, offsets: termOffsets } = terms.columns();
  return {
    termBytes,
    termOffsets,
    termLetters: Uint32Array.from(letters),
    postings: bytes.written(),
    postingStarts: Uint32Array.from(starts),
    frequencies: Uint32Array.from(frequencies),
  };
}

/** For each source, the numbers that its documents get in the new segment; -1 for those that are left out. */
function newNumbers(sources: readonly Source[]): Int32Array[] {
  let next = 0;
  return sources.map(({ documentCount, isLive }) =>
    Int32Array.from({ length: documentCount }, (_, document) => (isLive(document) ? next++ : -1)),
  );
}

/** All terms in order, each with its live postings under their new numbers. */
function* mergedTerms(
  sources: readonly Source[],
  numbers: readonly Int32Array[],
): Generator<{ term: string; postings: Posting[] }> {
  const places = sources.map(() => 0);
  const heads = sources.map((source) => (source.termCount > 0 ? source.term(0) : undefined));
  for (;;) {
    const first = heads.reduce(
      (least, head) =>
        head !== undefined && (least === undefined || compareByCodePoints(head, least) < 0) ? head : least,
      undefined,
    );
    if (first === undefined) return;
    const postings: Posting[] = [];
    for (const [index, source] of sources.entries()) {
      if (heads[index] !== first) continue;
      const place = places[index] as number;
      for (const posting of source.postings(place)) {
        const document = numbers[index]?.[posting.document] ?? -1;
        if (document >= 0) postings.push({ ...posting, document });
      }
      places[index] = place + 1;
      heads[index] = place + 1 < source.termCount ? source.term(place + 1) : undefined;
    }
    yield { term: first, postings };
  }
}
