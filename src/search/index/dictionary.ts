// The sorted terms of a segment, with lookups by exact term, by prefix, and by similarity.
import { differingLetters, editDistance, lettersOf } from '../../lib/typing-errors.ts';
import { STOP_TERMS } from '../words.ts';
import { Strings } from './strings.ts';

/** Bounds the work for a word that resembles many others: a few milliseconds. In the largest real catalog, it is 3,400 at most. */
const MOST_COMPARED = 10_000;
/** Words sort after this; name terms sort before it. */
const FIRST_WORD = ' ';

export class Dictionary extends Strings {
  /** `lettersOf` each term. */
  private readonly letters: Uint32Array;

  constructor(bytes: Uint8Array, offsets: Uint32Array, letters: Uint32Array) {
    super(bytes, offsets);
    this.letters = letters;
  }

  /** The position of the term, or -1. */
  find(term: string): number {
    const target = Buffer.from(term);
    const position = this.lowerBound(target);
    const isFound = position < this.length && this.byteLength(position) === target.length && this.at(position) === term;
    return isFound ? position : -1;
  }

  /** The half-open range of positions of the terms with this prefix. */
  startingWith(beginning: string): [number, number] {
    const target = Buffer.from(beginning);
    // UTF-8 never contains this byte, so it sorts after every term with the prefix.
    return [this.lowerBound(target), this.lowerBound(Buffer.concat([target, Buffer.from([0xff])]))];
  }

  /** Words within `mostErrors` typos of this one. */
  similar(word: string, mostErrors: number): { term: string; errors: number }[] {
    const wanted = lettersOf(word);
    const length = Buffer.byteLength(word);
    const found: { term: string; errors: number }[] = [];
    let compared = 0;
    for (let position = this.lowerBound(Buffer.from(FIRST_WORD)); position < this.length; position += 1) {
      const longer = this.byteLength(position) - length;
      // A character takes up to four bytes.
      if (longer < -4 * mostErrors || longer > 4 * mostErrors) continue;
      if (differingLetters(this.letters[position] as number, wanted) > 2 * mostErrors) continue;
      const term = this.at(position);
      const errors = editDistance(word, term, mostErrors);
      if (errors <= mostErrors && !STOP_TERMS.has(term)) found.push({ term, errors });
      compared += 1;
      if (compared === MOST_COMPARED) break;
    }
    return found;
  }

  private byteLength(position: number): number {
    return (this.offsets[position + 1] as number) - (this.offsets[position] as number);
  }

  /** The first position whose term is not less than the target. */
  private lowerBound(target: Uint8Array): number {
    const { bytes, offsets } = this;
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(bytes, offsets[middle] as number, offsets[middle + 1] as number, target)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Written out: a search compares thousands of short terms, and a call of `Buffer.compare` takes ten times as long. */
function isBefore(bytes: Uint8Array, start: number, end: number, target: Uint8Array): boolean {
  const shorter = Math.min(end - start, target.length);
  for (let position = 0; position < shorter; position += 1) {
    const byte = bytes[start + position] as number;
    const wanted = target[position] as number;
    if (byte !== wanted) return byte < wanted;
  }
  return end - start < target.length;
}
