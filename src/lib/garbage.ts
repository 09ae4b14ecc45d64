// Memory that is not needed any more, given back at once.
import v8 from 'node:v8';
import vm from 'node:vm';

/**
 * For a thread that has just read much and will do little from now on: left to itself, it collects its garbage only when it
 * needs room again. Takes some tenths of a second.
 */
export function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc');
  const collect: unknown = vm.runInNewContext('gc');
  if (typeof collect === 'function') collect();
}
