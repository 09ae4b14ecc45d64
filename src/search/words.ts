// Splits text into the words that are indexed and searched: folded, split at case changes and separators, stemmed.

/** A word of a text; `parts` are present if case changes split it, as in `pdfTableExtractor`. */
export interface Word {
  /** Folded, not stemmed. */
  text: string;
  term: string;
  parts: readonly string[];
}

/** Removes accents and lowers case, so that similar-looking texts are equal. */
export function fold(text: string): string {
  return withoutAccents(text).toLowerCase();
}

const MARKS = /\p{M}+/gu;
/** Letters whose stroke or ligature is not a removable accent, with their usual ASCII spelling. */
const PLAIN_LETTERS: ReadonlyMap<string, string> = new Map(
  'ß ss,æ ae,œ oe,ø o,ł l,đ d,ð d,þ th,ħ h,ŧ t,ı i,ẞ Ss,Æ Ae,Œ Oe,Ø O,Ł L,Đ D,Ð D,Þ Th,Ħ H,Ŧ T'
    .split(',')
    .map((pair) => pair.split(' ') as [string, string]),
);
const SPECIAL_LETTERS = new RegExp(`[${[...PLAIN_LETTERS.keys()].join('')}]`, 'gu');

/** Keeps the case, which is needed for splitting words. */
function withoutAccents(text: string): string {
  return text
    .normalize('NFKD')
    .replace(MARKS, '')
    .replace(SPECIAL_LETTERS, (letter) => PLAIN_LETTERS.get(letter) ?? letter);
}

/** Scripts written without spaces: every two adjacent letters are a term. Uses script extensions, so that `ー` is Katakana. */
const UNSPACED = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]`;
const IS_UNSPACED = new RegExp(`^${UNSPACED}`, 'v');
const WORD_RUNS = lazyRuns(String.raw`[\p{L}\p{N}]`);
const CASE_EDGE = /(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
const LONGEST_WORD = 64;

/**
 * Matches runs of these characters; an unspaced script starts a new run: `支持PDF文件` contains the word `PDF`. Compiled on
 * first use, because that takes milliseconds and would delay a page load.
 */
export function lazyRuns(characters: string): () => RegExp {
  let runs: RegExp | undefined;
  return () => {
    runs ??= new RegExp(`[${characters}&&${UNSPACED}]+|[${characters}--${UNSPACED}]+`, 'gv');
    return runs;
  };
}

export function isUnspaced(run: string): boolean {
  return IS_UNSPACED.test(run);
}

/** In order, including stop words. */
export function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  // Removes accents first, because a decomposed accent would end the word. Case is still needed here.
  for (const [run] of withoutAccents(text).matchAll(WORD_RUNS())) {
    if (isUnspaced(run)) words.push(...pairsOf(run));
    else words.push(wordFrom(run.slice(0, LONGEST_WORD)));
  }
  return words;
}

/** Drops stop words, unless the text has no other words. */
export function contentWords(words: readonly Word[]): readonly Word[] {
  const telling = words.filter(({ text }) => !STOP_WORDS.has(text));
  return telling.length > 0 ? telling : words;
}

function wordFrom(run: string): Word {
  const text = run.toLowerCase();
  const pieces = run.split(CASE_EDGE);
  const parts = pieces.length > 1 ? pieces.map((piece) => stem(piece.toLowerCase())) : [];
  return { text, term: stem(text), parts: parts.filter((part) => part.length > 1) };
}

function pairsOf(run: string): Word[] {
  const letters = [...run.toLowerCase()].slice(0, LONGEST_WORD);
  const pairs = letters.length === 1 ? letters : letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
  return pairs.map((text) => ({ text, term: text, parts: [] }));
}

/** Removes separators: `io.github.owner/pdf-table`, `io-github-owner-pdf-table` and `IO GitHub Owner PDF Table` have the same key. */
export function nameKey(text: string): string {
  return fold(text).replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Splits a name and a version: `pdf-table 1.2.0` or `pdf-table@1.2.0`. */
export function versionedName(text: string): { name: string; version: string } | undefined {
  const [, name, version] = /^(\S.{0,300}?)[\s@]+v?(\d[\w.+-]{0,100})$/.exec(text.trim()) ?? [];
  return name !== undefined && version !== undefined ? { name, version } : undefined;
}

/**
 * Removes English endings that do not change what a word is about: plurals, -ing, -ed, and a final vowel. Light on
 * purpose: `tables` finds `table` and `parsing` finds `parse`, but `universe` does not find `university`.
 */
export function stem(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  return withoutLastVowel(withoutEnding(withoutPlural(word)));
}

function withoutPlural(word: string): string {
  if (/(?:ss|us|sis|xis)$/.test(word)) return word;
  if (/ies$/.test(word)) return word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
  if (/(?:[sx]|ch|sh|z)es$/.test(word)) return word.slice(0, -2);
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

function withoutEnding(word: string): string {
  const [, root] = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(word) ?? [];
  if (!root || root.length < 3) return word;
  return /([^aeioulsz])\1$/.test(root) ? root.slice(0, -1) : root;
}

function withoutLastVowel(word: string): string {
  if (word.length > 4 && word.endsWith('e')) return word.slice(0, -1);
  return word.length > 3 && word.endsWith('y') && !/[aeiou]y$/.test(word) ? `${word.slice(0, -1)}i` : word;
}

/** Stop words, including words that people use to phrase a request. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about an and any are as at be been but by can could did do does for from get give had has have help her here him his
  how i if in into is it its just let like me my need of on or our out please so some such than that the their them then
  there these they this those to up us use used using want was we were what when where which while who why will with
  would you your`.split(/\s+/),
);

/** Stemmed stop words. Marked as pure, so that the page's bundle drops them. */
export const STOP_TERMS: ReadonlySet<string> = /* @__PURE__ */ stemmed(STOP_WORDS);

function stemmed(words: ReadonlySet<string>): Set<string> {
  return new Set([...words].map(stem));
}
