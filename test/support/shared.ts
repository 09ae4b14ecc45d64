// What the tests of a file share, so that it is started once.
import { after } from 'node:test';
import type { Ending } from './databases.ts';

/** The first test that needs it starts it, and it ends with the file. Tests only read it, or use names of their own. */
export function shared<T>(start: (t: Ending) => Promise<T>): () => Promise<T> {
  const endings: (() => unknown)[] = [];
  let started: Promise<T> | undefined;
  after(async () => {
    for (const end of endings.toReversed()) await end();
  });
  const ending = { after: (end: () => unknown) => endings.push(end) } as Ending;
  return () => {
    started ??= start(ending);
    return started;
  };
}
