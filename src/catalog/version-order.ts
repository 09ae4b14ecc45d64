// The order of versions: by semver where possible, and a total order for all other version strings.
import semver from 'semver';

const LONGEST_KEY = 600;

/**
 * A string whose byte order is the version order, so that a database can sort by it.
 *
 * Versions that start with a number (after an optional `v`) come after all others (`canary-…`, `refs/heads/main`).
 * Numbers compare numerically, missing ones count as 0, a pre-release comes before its release, other words after it, and
 * two versions of equal precedence (build metadata) are ordered by their text.
 */
export function versionKey(version: string): string {
  const { numbers, stage, words } = split(version);
  const release = numbers.length > 0 ? `1${withoutTrailingZeros(numbers).map(numberKey).join('')}` : '0';
  // `+` sorts before `-`, and that before the `.` of a further number: 1.0.0-rc < 1.0.0 < 1.0.1.
  const key = `${release}${stage === 'pre' ? '+' : '-'}${words.map(wordKey).join('')}!${encodeURIComponent(version.toWellFormed())}`;
  // Database indexes limit the length of keys; no real version is this long.
  return key.slice(0, LONGEST_KEY);
}

/** Versions before a release, such as `2.0.0-beta.1` or `1.0rc1`. */
export function isPrerelease(version: string): boolean {
  // Nearly all versions look like this, and semver takes much longer.
  if (/^\d+(?:\.\d+)*$/.test(version)) return false;
  return split(version).stage === 'pre';
}

interface VersionParts {
  numbers: string[];
  /** Whether the words precede or follow the release. */
  stage: 'pre' | 'final';
  words: string[];
}

function split(version: string): VersionParts {
  const parsed = semver.parse(version, { loose: true });
  if (parsed) {
    return {
      numbers: [parsed.major, parsed.minor, parsed.patch].map(String),
      stage: parsed.prerelease.length > 0 ? 'pre' : 'final',
      words: parsed.prerelease.map(String),
    };
  }
  // `0.1`, `1.2.3.4`, `2026-05-22.v1`, `1.0rc1`: leading numbers, then words.
  const [numeric = ''] = /^[v=\s]*\d+(?:[.-]\d+)*/i.exec(version) ?? [];
  const rest = version.slice(numeric.length).split('+')[0] ?? '';
  return {
    numbers: numeric.match(/\d+/g) ?? [],
    stage: /^[.\-_]?(a|b|c|rc|alpha|beta|pre|preview|dev|canary|next|nightly|snapshot)(?![a-z])/i.test(rest)
      ? 'pre'
      : 'final',
    words: rest.split(/[.\-_/]/).filter(Boolean),
  };
}

function withoutTrailingZeros(numbers: readonly string[]): string[] {
  return numbers.slice(0, numbers.findLastIndex((number) => !/^0+$/.test(number)) + 1);
}

/** Length first, so that 10 follows 9. */
function numberKey(number: string): string {
  const digits = number.replace(/^0+(?=\d)/, '');
  return `.${String(digits.length).padStart(3, '0')}${digits}`;
}

/** Numbers come before words, as in semver; the trailing `,` sorts a shorter word before a longer one. */
function wordKey(word: string): string {
  return /^\d+$/.test(word) ? `0${numberKey(word)},` : `1${encodeURIComponent(word.toWellFormed())},`;
}
