// Installs the clients for these tests, so CI can do so in parallel with other work.
import { installClients } from './install-clients.ts';

for (const missing of (await installClients()).values()) process.stderr.write(`${missing}\n`);
