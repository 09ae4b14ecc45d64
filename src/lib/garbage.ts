// Triggers garbage collection.
import v8 from 'node:v8';
import vm from 'node:vm';

type Collect = (options?: { type: 'minor' }) => void;

let collect: Collect | undefined;

/**
 * For code that passes on many buffers: each is a small object with a lot of memory outside the heap, so tens of megabytes
 * accumulate before the collector runs. Call it with every buffer; a collection takes about a millisecond.
 */
export function createBufferSweep(everyBytes = 8_000_000): (buffer: { length: number }) => void {
  let passed = 0;
  return ({ length }) => {
    passed += length;
    if (passed < everyBytes) return;
    passed = 0;
    collector()({ type: 'minor' });
  };
}

function collector(): Collect {
  if (!collect) {
    v8.setFlagsFromString('--expose-gc');
    const found: unknown = vm.runInNewContext('gc');
    collect = typeof found === 'function' ? (found as Collect) : () => {};
  }
  return collect;
}
