// Lists the content of an entity value by value, for reviewers and for the digest of an approval.
import { isJsonObject } from '../lib/json.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { withoutCredentials } from '../lib/secrets/credentials.ts';

export interface ContentValue {
  /** `server.tool.url`; keys that contain a dot are quoted. */
  path: string;
  value: string;
}

interface Leaf extends ContentValue {
  /** Whether it determines what is started, fetched or connected to. */
  isTarget: boolean;
}

const MOST_OTHER_VALUES = 300;
const LONGEST_VALUE = 300;
/** Keys of addresses, commands, packages and what is sent with requests. */
const TARGET =
  /ur[il]$|^(command|cmd|exec|args|\w+arguments|env|environmentvariables|headers|variables|transport|runtimehint|package|identifier|image|repo|ref|version|tag|digest|filesha256|registry\w*|extras|path|dest)$/i;

/**
 * Hides secrets and truncates long values; a digest shows whether two values are equal. Targets come first and are all
 * listed, so that a publisher cannot hide one behind many other values.
 */
export function contentOf(content: unknown): ContentValue[] {
  const whole = [...leavesOf(content)];
  const values = [...leavesOf(withoutCredentials(content))].map(({ path, value, isTarget }, index) => {
    const cut = value.slice(0, LONGEST_VALUE);
    const full = whole[index]?.value;
    return { isTarget, shown: { path, value: cut === full ? cut : `${cut}… (${jsonDigest(full)})` } };
  });
  const [targets = [], others = []] = [true, false].map((wanted) =>
    values.filter(({ isTarget }) => isTarget === wanted).map(({ shown }) => shown),
  );
  if (others.length <= MOST_OTHER_VALUES) return [...targets, ...others];
  const further = others.slice(MOST_OTHER_VALUES);
  return [
    ...targets,
    ...others.slice(0, MOST_OTHER_VALUES),
    { path: 'further', value: `${further.length} values, ${jsonDigest(further)}` },
  ];
}

/** A value is undefined on the side where it is missing. */
export function contentChanges(before: readonly ContentValue[], after: readonly ContentValue[]) {
  const old = new Map(before.map(({ path, value }) => [path, value]));
  const now = new Map(after.map(({ path, value }) => [path, value]));
  return [...new Set([...now.keys(), ...old.keys()])]
    .map((path) => ({ what: path, before: old.get(path), after: now.get(path) }))
    .filter((change) => change.before !== change.after);
}

function* leavesOf(value: unknown, path = '', isTarget = false): Generator<Leaf> {
  const members = Array.isArray(value) || isJsonObject(value) ? Object.entries(value) : undefined;
  if (members) {
    for (const [key, member] of members) {
      const name = /^[^."]+$/.test(key) ? key : JSON.stringify(key);
      yield* leavesOf(member, path === '' ? name : `${path}.${name}`, isTarget || TARGET.test(key));
    }
  } else if (value !== undefined && value !== null) {
    yield { path, value: String(value), isTarget };
  }
}
