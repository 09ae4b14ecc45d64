// Installs the agent frameworks for these tests, so CI can do so in parallel with other work.
import { installFrameworks } from './environments.ts';

for (const missing of (await installFrameworks()).values()) process.stderr.write(`${missing}\n`);
