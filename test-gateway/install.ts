// Installs the gateways that the tests beside this file need, so that CI can do so while it does something else.
import { installGateways } from './support.ts';

const missing = await installGateways();
if (missing) process.stderr.write(`${missing}\n`);
