// A process of its own that puts a link in the place of a folder, and the folder back, until it is killed.
import { renameSync, symlinkSync, unlinkSync } from 'node:fs';

const [, , folder = '', outside = ''] = process.argv;
process.stdout.write('begins\n');
const turns: (() => void)[] = [
  () => renameSync(folder, `${folder}-moved`),
  () => symlinkSync(outside, folder),
  () => unlinkSync(folder),
  () => renameSync(`${folder}-moved`, folder),
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
