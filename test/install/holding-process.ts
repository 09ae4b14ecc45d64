// A process of its own that has a target until it is killed.
import { lockFile } from '../../src/install/target/target-queue.ts';

const [, , path = ''] = process.argv;
await lockFile(path, new AbortController().signal);
process.stdout.write('held\n');
setInterval(() => {}, 1000);
