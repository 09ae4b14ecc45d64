// What the tests of a file share, so that it is started once.
import { atEnd } from './at-end.ts';
import type { Ending } from './databases/databases.ts';

/** The first test that needs it starts it, and it ends with the process. Tests only read it, or use names of their own. */
export function shared<T>(start: (t: Ending) => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => {
    started ??= start(atEnd);
    return started;
  };
}
