// Installs the gateway that the tests beside this file need, so that CI can do so while it does something else.
import { installGateway } from './support.ts';

const missing = await installGateway();
if (missing) process.stderr.write(`${missing}\n`);
