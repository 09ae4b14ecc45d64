// Almost valid documents: a valid one with some odd, missing or very long values. Deterministic.
import fc from 'fast-check';
import type { JsonObject } from '../../src/lib/json.ts';
import { anyText } from '../lib/any-text.ts';

/** The same inputs on every run, few enough to take only seconds. */
export const RUNS = { seed: 20_261_117, numRuns: 150 };

/** Long enough to expose a quadratic parser. */
export const longText = fc
  .tuple(
    fc.constantFrom('a', ' ', '<', '{', '[', '"', '\\', '.', '-', '/', '@', '&a ', '*a ', '\n', '${', 'é', '\ud83d'),
  )
  .map(([piece]) => piece.repeat(Math.floor(10_000 / piece.length)));

export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: anyText() },
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 2, arbitrary: fc.constantFrom(null, true, -1, 0.5, 1e308, '', [], {}, [[]], { __proto__: null }) },
  { weight: 1, arbitrary: longText },
);

/** `sample` with up to three of its values replaced or removed, at any depth. */
export function almost(sample: unknown): fc.Arbitrary<unknown> {
  const paths = pathsIn(sample);
  const change = fc.record({ path: fc.constantFrom(...paths), value: fc.option(oddValue, { nil: undefined }) });
  return fc.array(change, { maxLength: 3 }).map((changes) => {
    const box = { root: structuredClone(sample) };
    for (const { path, value } of changes) put(box, ['root', ...path], value);
    return box.root;
  });
}

function pathsIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([key, inner]) => pathsIn(inner).map((path) => [key, ...path]))];
}

function put(target: unknown, [key = '', ...rest]: string[], value: unknown): void {
  if (typeof target !== 'object' || target === null) return;
  const object = target as JsonObject;
  if (rest.length > 0) put(object[key], rest, value);
  else if (value !== undefined) object[key] = structuredClone(value);
  else if (Array.isArray(target)) target.splice(Number(key), 1);
  else delete object[key];
}
