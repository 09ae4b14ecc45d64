// What git writes when it fails, as the end of a sentence that a person can act on.
import { outputEnd, withoutFolders } from '../program.ts';

const CAUSES: readonly [RegExp, string][] = [
  [/could not resolve host/i, 'the name of its host is not known'],
  [/host key verification failed/i, 'its host is not in known_hosts: connect to it once with ssh'],
  [
    /authentication failed|could not read (?:username|password)|terminal prompts disabled|error: 40[13]|permission denied \(publickey/i,
    'it needs a login, and there is none for it on this machine',
  ],
  [/repository .*not found|returned error: 404/i, 'there is none at this address'],
  [/does not appear to be a git repository|not a git repository/i, 'there is no repository at this address'],
  [/dubious ownership/i, 'it belongs to another user of this machine'],
  [/certificate/i, 'the certificate of its host is not valid for it'],
  [
    /failed to connect|couldn't connect|connection refused|timed out|too slow|network is unreachable/i,
    'its host could not be reached, or is too slow; try again later',
  ],
  [
    /early EOF|RPC failed|hung up unexpectedly|unexpected disconnect|invalid index-pack|fetch-pack: invalid/i,
    'its host ended the connection early; try again later',
  ],
  [/not valid: is this a git repository|protocol error|bad line length/i, 'its host does not answer as git hosts do'],
  [/transport '.*' not allowed/i, 'its transport is not allowed'],
  [/file name too long/i, 'a name in it is longer than this filesystem allows'],
  [/invalid path/i, 'a name in it cannot be the name of a file'],
];

/** `folders` are those of the install, which say nothing to a reader. */
export function gitCause(stderr: string, folders: readonly string[]): string {
  const cause = CAUSES.find(([pattern]) => pattern.test(stderr))?.[1];
  return cause ?? lastLine(withoutFolders(stderr, folders));
}

function lastLine(stderr: string): string {
  const lines = outputEnd(stderr).split('\n').filter(Boolean);
  const fatal = lines.findLast((line) => /^(fatal|error): /.test(line)) ?? lines.at(-1) ?? 'git wrote nothing';
  return fatal.replace(/^(fatal|error): |\.$/g, '').slice(0, 300);
}
