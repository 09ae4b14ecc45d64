// Installs the agent frameworks that the tests beside this file need, so that CI can do so while it does something else.
import { installFrameworks } from './environments.ts';

for (const missing of (await installFrameworks()).values()) process.stderr.write(`${missing}\n`);
