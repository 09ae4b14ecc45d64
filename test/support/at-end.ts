// For what the tests of one file share: cleans up in reverse order, after the last test of the process.
import { after } from 'node:test';
import type { Ending } from './databases/databases.ts';

const endings: (() => unknown)[] = [];
after(async () => {
  for (const end of endings.toReversed()) await end();
});

export const atEnd: Ending = { after: (end) => void endings.push(end as () => unknown) };
