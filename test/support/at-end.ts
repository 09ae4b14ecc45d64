// For what the tests of one file share: cleans up after the last of them, in reverse order.
import { after } from 'node:test';
import type { Ending } from './databases.ts';

const endings: (() => unknown)[] = [];
after(async () => {
  for (const end of endings.toReversed()) await end();
});

export const atEnd: Ending = { after: (end) => void endings.push(end as () => unknown) };
