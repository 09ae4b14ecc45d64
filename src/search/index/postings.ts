// Encodes the documents that contain a term as bytes: the distance to the previous document, the impact, and the fields.
import type { ByteWriter } from './strings.ts';

export interface Posting {
  document: number;
  /** The weight of the term in the document, from 1 to 255; does not include its rarity. */
  impact: number;
  /** One bit for each field that contains the term. */
  fields: number;
}

/** Call it in document order. */
export function writePosting(writer: ByteWriter, { document, impact, fields }: Posting, before: number): void {
  writer.writeNumber(document - before - 1);
  writer.writeByte(impact);
  writer.writeByte(fields);
}

export function readPostings(bytes: Uint8Array, start: number, end: number): Posting[] {
  const postings: Posting[] = [];
  let document = -1;
  for (let at = start; at < end; ) {
    let byte = bytes[at++] as number;
    let distance = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++] as number;
      distance |= (byte & 127) << shift;
    }
    document += distance + 1;
    postings.push({ document, impact: bytes[at++] as number, fields: bytes[at++] as number });
  }
  return postings;
}

/** Adds `factor × impact` to the score of every document; returns the new number of documents in `touched`. */
export function addScores(
  { bytes, start, end, factor }: { bytes: Uint8Array; start: number; end: number; factor: number },
  scores: Float32Array,
  touched: Uint32Array,
  touchedCount: number,
): number {
  let count = touchedCount;
  let document = -1;
  // The same loop as in `readPostings`, without an object for each of up to a million postings.
  for (let at = start; at < end; at += 2) {
    let byte = bytes[at++] as number;
    let distance = byte & 127;
    for (let shift = 7; byte > 127; shift += 7) {
      byte = bytes[at++] as number;
      distance |= (byte & 127) << shift;
    }
    document += distance + 1;
    const score = scores[document] as number;
    if (score === 0) touched[count++] = document;
    scores[document] = score + factor * (bytes[at] as number);
  }
  return count;
}
