// The sorted terms of a segment: found as they are, by their beginning, or in spite of typing errors.

import { differingLetters, editDistance, lettersOf } from '../typing-errors.ts';
import { STOP_TERMS } from '../words.ts';
import { openStrings } from './strings.ts';

export interface Dictionary {
  readonly length: number;
  at(place: number): string;
  /** Its place, or -1. */
  find(term: string): number;
  /** Places of the terms that begin so: from the first up to, but not including, the last number. */
  startingWith(beginning: string): [number, number];
  /** Words that `mostErrors` typing errors make of this one. */
  similar(word: string, mostErrors: number): { term: string; errors: number }[];
}

export interface DictionaryColumns {
  bytes: Uint8Array;
  offsets: Uint32Array;
  /** `lettersOf` each term. */
  letters: Uint32Array;
}

/** Bounds the work for a word that resembles very many others. */
const MOST_COMPARED = 1_000;
/** Words begin after this; names, which are terms as well, before it. */
const FIRST_WORD = ' ';

export function openDictionary({ bytes, offsets, letters }: DictionaryColumns): Dictionary {
  const strings = openStrings(bytes, offsets);

  /** The first place whose term is not before the target. */
  function lowerBound(target: Uint8Array): number {
    let low = 0;
    let high = strings.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isBefore(bytes, offsets[middle] as number, offsets[middle + 1] as number, target)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function startingWith(beginning: string): [number, number] {
    const target = Buffer.from(beginning);
    // No UTF-8 text holds this byte: it comes after everything that begins so.
    return [lowerBound(target), lowerBound(Buffer.concat([target, Buffer.from([0xff])]))];
  }

  return {
    length: strings.length,
    at: strings.at,
    find(term) {
      const target = Buffer.from(term);
      const place = lowerBound(target);
      const isFound =
        place < strings.length &&
        (offsets[place + 1] as number) - (offsets[place] as number) === target.length &&
        strings.at(place) === term;
      return isFound ? place : -1;
    },
    startingWith,
    similar(word, mostErrors) {
      const wanted = lettersOf(word);
      const length = Buffer.byteLength(word);
      const found: { term: string; errors: number }[] = [];
      let compared = 0;
      for (let place = lowerBound(Buffer.from(FIRST_WORD)); place < strings.length; place += 1) {
        const longer = (offsets[place + 1] as number) - (offsets[place] as number) - length;
        // A letter takes up to four bytes.
        if (longer < -4 * mostErrors || longer > 4 * mostErrors) continue;
        if (differingLetters(letters[place] as number, wanted) > 2 * mostErrors) continue;
        const term = strings.at(place);
        const errors = editDistance(word, term, mostErrors);
        if (errors <= mostErrors && !STOP_TERMS.has(term)) found.push({ term, errors });
        compared += 1;
        if (compared === MOST_COMPARED) break;
      }
      return found;
    },
  };
}

function isBefore(bytes: Uint8Array, start: number, end: number, target: Uint8Array): boolean {
  const shorter = Math.min(end - start, target.length);
  for (let place = 0; place < shorter; place += 1) {
    const byte = bytes[start + place] as number;
    const wanted = target[place] as number;
    if (byte !== wanted) return byte < wanted;
  }
  return end - start < target.length;
}
