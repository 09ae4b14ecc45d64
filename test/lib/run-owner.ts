// A test program that runs another one until it is killed.
import { tmpdir } from 'node:os';
import { createRun } from '../../src/lib/run.ts';

const [, , script = ''] = process.argv;
await createRun(process.env)({ program: 'sh', args: ['-c', script], cwd: tmpdir(), timeoutMs: 60_000 });
