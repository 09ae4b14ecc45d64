// Installs pgvector for the tests that need it.
import { installPgvector } from './pgvector.ts';

const missing = await installPgvector();
if (missing) process.stderr.write(`${missing}\n`);
