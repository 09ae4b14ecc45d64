// What docker, podman and skopeo write when they cannot pull an image, as the end of a sentence that a person can act on.
import { HELD_BACK } from '../program.ts';

const CAUSES: readonly [RegExp, string][] = [
  [HELD_BACK, 'its registry leads to an address that the hub may not connect to'],
  [/policy\.json/, 'it lacks its policy, /etc/containers/policy.json: install the package containers-common'],
  [/toomanyrequests|too many requests|rate limit/i, 'the registry limits requests; try again later'],
  [
    /unauthorized|authentication required|access to the resource is denied|pull access denied|\bdenied\b/i,
    'there is no such image, or it needs a login that this machine does not have',
  ],
  [
    /manifest unknown|name unknown|repository .*not found|not found: manifest/i,
    'the registry has no such image or tag',
  ],
  [
    /no (?:matching manifest|image found in .*) for|no image found in (?:manifest list|image index)/i,
    'there is no image for the platform of this machine',
  ],
  [/gave HTTP response to HTTPS client/i, 'the registry speaks only http'],
  [/x509|certificate/i, 'the certificate of the registry is not valid for it'],
  [/cannot connect to the docker daemon|is the docker daemon running/i, 'its engine does not answer: start it again'],
  [
    /no such host|dial tcp|connection refused|i\/o timeout|network is unreachable|TLS handshake timeout|context deadline|EOF$/im,
    'the registry could not be reached; look at the name of its host, or try again later',
  ],
];

/** The last line, when the cause is not known. */
export function pullCause(output: string): string {
  const cause = CAUSES.find(([pattern]) => pattern.test(output))?.[1];
  if (cause !== undefined) return cause;
  const lastLine = output.split('\n').findLast((line) => line.trim() !== '') ?? 'it wrote nothing';
  return withoutLogForm(lastLine).replace(/\.$/, '').slice(0, 300);
}

/** `time="…" level=fatal msg="…"`. */
function withoutLogForm(line: string): string {
  const [, message] = /\bmsg=("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
  if (message === undefined) return line.replace(/^Error: /, '');
  try {
    return JSON.parse(message);
  } catch {
    return message.slice(1, -1);
  }
}
