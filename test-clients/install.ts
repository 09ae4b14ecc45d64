// Installs the clients that the tests beside this file need, so that CI can do so while it does something else.
import { installClients } from './install-clients.ts';

for (const missing of (await installClients()).values()) process.stderr.write(`${missing}\n`);
