// Writes a segment from its sources; used for new and for merged segments.
import { lettersOf } from '../../lib/typing-errors.ts';
import { ORDERS } from '../sort.ts';
import { packColumns } from './columns.ts';
import { type Posting, writePosting } from './postings.ts';
import type { SegmentColumns } from './segment.ts';
import type { Source, SourceMember } from './source.ts';
import { ByteWriter, compareByCodePoints, Strings, StringsWriter } from './strings.ts';

export function writeSegment(sources: readonly Source[]): SharedArrayBuffer {
  const columns = { ...documentColumns(sources), ...termColumns(sources) };
  const whole: SegmentColumns = { ...columns, ...memberOrders(columns) };
  return packColumns({ ...whole });
}

function documentColumns(sources: readonly Source[]) {
  const names = new StringsWriter();
  const sortNames = new StringsWriter();
  /** Documents with the same text share its number. */
  const digests = createNumbers();
  const texts: number[] = [];
  const memberStarts = [0];
  const members = createMemberWriter();
  for (const source of sources) {
    for (let position = 0; position < source.documentCount; position += 1) {
      if (!source.isLive(position)) continue;
      const { name, sortName, digest, members: versions } = source.document(position);
      const document = names.add(name);
      sortNames.add(sortName);
      texts.push(digests.numberOf(digest));
      for (const member of versions) members.add(member, document);
      memberStarts.push(members.count());
    }
  }
  return {
    ...names.columns('name'),
    ...sortNames.columns('sortName'),
    memberStarts: Uint32Array.from(memberStarts),
    texts: Uint32Array.from(texts),
    digests: Buffer.concat(digests.all().map((digest) => Buffer.from(digest, 'hex'))),
    ...documentsByText(texts, digests.all().length),
    ...members.columns(),
  };
}

function documentsByText(texts: readonly number[], textCount: number) {
  const textDocumentStarts = new Uint32Array(textCount + 1);
  for (const text of texts) textDocumentStarts[text + 1] = (textDocumentStarts[text + 1] as number) + 1;
  for (let text = 0; text < textCount; text += 1) {
    textDocumentStarts[text + 1] = (textDocumentStarts[text + 1] as number) + (textDocumentStarts[text] as number);
  }
  const next = textDocumentStarts.slice();
  const textDocuments = new Uint32Array(texts.length);
  for (const [document, text] of texts.entries()) {
    textDocuments[next[text] as number] = document;
    next[text] = (next[text] as number) + 1;
  }
  return { textDocuments, textDocumentStarts };
}

function createMemberWriter() {
  const uids = new StringsWriter();
  const values = createNumbers();
  /** Many members share the same facets. */
  const sets = createNumbers();
  const numbers = {
    flags: [] as number[],
    facetSets: [] as number[],
    qualities: [] as number[],
    published: [] as number[],
    arrived: [] as number[],
    versionRanks: [] as number[],
    memberDocuments: [] as number[],
  };
  return {
    count: () => numbers.flags.length,
    add(member: SourceMember, document: number): void {
      uids.add(member.uid);
      numbers.flags.push(member.flags);
      numbers.facetSets.push(sets.numberOf(member.facets.map(values.numberOf).join(' ')));
      numbers.qualities.push(member.quality);
      numbers.published.push(member.published);
      numbers.arrived.push(member.arrived);
      numbers.versionRanks.push(member.versionRank);
      numbers.memberDocuments.push(document);
    },
    columns() {
      const valueTexts = new StringsWriter();
      for (const value of values.all()) valueTexts.add(value);
      return {
        ...uids.columns('uid'),
        flags: Uint8Array.from(numbers.flags),
        facetSets: Uint32Array.from(numbers.facetSets),
        qualities: Float32Array.from(numbers.qualities),
        published: Float64Array.from(numbers.published),
        arrived: Float64Array.from(numbers.arrived),
        versionRanks: Uint32Array.from(numbers.versionRanks),
        memberDocuments: Uint32Array.from(numbers.memberDocuments),
        ...valueTexts.columns('value'),
        ...setColumns(sets.all()),
      };
    },
  };
}

function memberOrders(columns: ReturnType<typeof documentColumns>) {
  const sortNames = new Strings(columns.sortNameBytes, columns.sortNameOffsets);
  const documents = Uint32Array.from(columns.texts.keys()).sort((one, other) =>
    sortNames.compare(one, sortNames, other),
  );
  const nameRanks = new Uint32Array(documents.length);
  for (const [rank, document] of documents.entries()) nameRanks[document] = rank;
  const segment = { ...columns, sortNames, nameRanks };
  const members = Array.from(columns.arrived.keys(), (member) => ({ segment, member }));
  const orders = Object.entries(ORDERS).map(([name, compare]) => [
    name,
    Uint32Array.from(members.sort(compare), ({ member }) => member),
  ]);
  return { nameRanks, ...(Object.fromEntries(orders) as Record<keyof typeof ORDERS, Uint32Array>) };
}

/** Each set is a list of value numbers, separated by spaces. */
function setColumns(sets: readonly string[]) {
  const setValues: number[] = [];
  const setStarts = [0];
  for (const set of sets) {
    if (set !== '') setValues.push(...set.split(' ').map(Number));
    setStarts.push(setValues.length);
  }
  return { setValues: Uint32Array.from(setValues), setStarts: Uint32Array.from(setStarts) };
}

/** Numbers distinct strings in order of appearance. */
function createNumbers() {
  const numbers = new Map<string, number>();
  return {
    numberOf(text: string): number {
      const number = numbers.get(text) ?? numbers.size;
      numbers.set(text, number);
      return number;
    },
    all: () => [...numbers.keys()],
  };
}

function termColumns(sources: readonly Source[]) {
  const numbers = newNumbers(sources);
  const terms = new StringsWriter();
  const letters: number[] = [];
  const bytes = new ByteWriter();
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
  return {
    ...terms.columns('term'),
    termLetters: Uint32Array.from(letters),
    postings: bytes.written(),
    postingStarts: Uint32Array.from(starts),
    frequencies: Uint32Array.from(frequencies),
  };
}

/** For each source, the numbers of its documents in the new segment; -1 for those that are left out. */
export function newNumbers(sources: readonly Source[]): Int32Array[] {
  let next = 0;
  return sources.map(({ documentCount, isLive }) =>
    Int32Array.from({ length: documentCount }, (_, document) => (isLive(document) ? next++ : -1)),
  );
}

/** All terms in order, each with its live postings, renumbered. */
function* mergedTerms(
  sources: readonly Source[],
  numbers: readonly Int32Array[],
): Generator<{ term: string; postings: Posting[] }> {
  const positions = sources.map(() => 0);
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
      const position = positions[index] as number;
      for (const posting of source.postings(position)) {
        const document = numbers[index]?.[posting.document] ?? -1;
        if (document >= 0) postings.push({ ...posting, document });
      }
      positions[index] = position + 1;
      heads[index] = position + 1 < source.termCount ? source.term(position + 1) : undefined;
    }
    yield { term: first, postings };
  }
}
