// Lists the content of an entity value by value, for reviewers and for the digest of an approval.
import { isJsonObject } from '../lib/json.ts';
import { jsonDigest } from '../lib/json-digest.ts';
import { withoutCredentials } from '../lib/secrets/credentials.ts';

export interface ContentValue {
  /** `server.tool.url` */
  path: string;
  value: string;
}

const MOST_VALUES = 300;
const LONGEST_VALUE = 300;

/** Hides secrets and truncates long values; a digest shows whether two values are equal. */
export function contentOf(content: unknown): ContentValue[] {
  const whole = [...leavesOf(content, '')];
  const values = [...leavesOf(withoutCredentials(content), '')].map(({ path, value }, index) => {
    const cut = value.slice(0, LONGEST_VALUE);
    const full = whole[index]?.value;
    return { path, value: cut === full ? cut : `${cut}… (${jsonDigest(full)})` };
  });
  if (values.length <= MOST_VALUES) return values;
  const further = values.slice(MOST_VALUES);
  return [
    ...values.slice(0, MOST_VALUES),
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

function* leavesOf(value: unknown, path: string): Generator<ContentValue> {
  const members = Array.isArray(value) || isJsonObject(value) ? Object.entries(value) : undefined;
  if (members) {
    for (const [name, member] of members) yield* leavesOf(member, path === '' ? name : `${path}.${name}`);
  } else if (value !== undefined && value !== null) {
    yield { path, value: String(value) };
  }
}
