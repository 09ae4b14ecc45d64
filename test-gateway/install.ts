// Installs the gateways for these tests, so CI can do so in parallel with other work.
import { installGateways } from './support.ts';

const missing = await installGateways();
if (missing) process.stderr.write(`${missing}\n`);
