// A process of its own that puts a link in the place of a folder, and the folder back, until it is killed.
import { renameSync, symlinkSync, unlinkSync } from 'node:fs';

const [, , folder = '', outside = '', pauseMs = '0'] = process.argv;
process.stdout.write('begins\n');
const nothing = new Int32Array(new SharedArrayBuffer(4));
const pause = (mostMs: number) => {
  if (mostMs > 0) Atomics.wait(nothing, 0, 0, Math.random() * mostMs);
};
const turns: (() => void)[] = [
  () => renameSync(folder, `${folder}-moved`),
  () => symlinkSync(outside, folder),
  () => pause(Number(pauseMs)),
  () => unlinkSync(folder),
  () => renameSync(`${folder}-moved`, folder),
  () => pause(10 * Number(pauseMs)),
];
for (;;) {
  for (const turn of turns) {
    try {
      turn();
    } catch {
      // Whoever is attacked makes the folder anew at times.
    }
  }
}
