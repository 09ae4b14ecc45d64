// What git says when it fails, as the end of a sentence that a person can act on.
import { withoutPasswords } from './program.ts';

const CAUSES: readonly [RegExp, string][] = [
  [/could not resolve host/i, 'the name of its host is not known'],
  [
    /authentication failed|could not read (?:username|password)|terminal prompts disabled|error: 40[13]/i,
    'it is not public, and only public repositories are fetched',
  ],
  [/repository .*not found|returned error: 404/i, 'there is none at this address'],
  [/does not appear to be a git repository|not a git repository/i, 'there is no repository at this address'],
  [/dubious ownership/i, 'it belongs to another user of the machine of the hub'],
  [/certificate/i, 'the certificate of its host is not valid for it'],
  [
    /failed to connect|couldn't connect|connection refused|timed out|too slow|network is unreachable/i,
    'its host could not be reached, or is too slow; try again later',
  ],
  [
    /early EOF|RPC failed|hung up unexpectedly|unexpected disconnect|invalid index-pack|fetch-pack: invalid/i,
    'its host broke off before everything was there; try again later',
  ],
  [/not valid: is this a git repository|protocol error|bad line length/i, 'its host does not speak as git hosts do'],
  [/transport '.*' not allowed/i, 'it is reached in a way that is not allowed'],
  [/file name too long/i, 'a name in it is longer than this filesystem allows'],
  [/invalid path/i, 'a name in it cannot be that of a file'],
];

/** `places` are folders of the hub, which are nothing for a report. */
export function gitCause(stderr: string, places: readonly string[]): string {
  const cause = CAUSES.find(([pattern]) => pattern.test(stderr))?.[1];
  return cause ?? lastWords(withoutPlaces(stderr, places));
}

/** Longest first: one may be inside another. */
export function withoutPlaces(text: string, places: readonly string[]): string {
  return places
    .toSorted((one, other) => other.length - one.length)
    .reduce((told, place) => told.replaceAll(`${place}/`, '').replaceAll(place, 'the checkout'), text);
}

/** What git itself says is in its last lines; addresses in it may carry a password. */
function lastWords(stderr: string): string {
  const lines = stderr.trim().split('\n').filter(Boolean);
  const fatal = lines.findLast((line) => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? 'it said nothing';
  return withoutPasswords(fatal.replace(/^(fatal|error): |\.$/g, '')).slice(0, 300);
}
