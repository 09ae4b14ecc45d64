// A process that holds the lock of a target until it is killed.
import { lockTarget } from '../../src/install/target/target-queue.ts';

const [, , targetDir = ''] = process.argv;
await lockTarget(targetDir, new AbortController().signal);
process.stdout.write('held\n');
setInterval(() => {}, 1000);
