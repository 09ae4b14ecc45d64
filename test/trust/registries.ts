// Registries on loopback with signed artifacts.
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../src/lib/json.ts';
import { type Ending, tempDir } from '../support/databases/databases.ts';
import { type IndexServer, startIndexServer } from '../support/servers/index-server.ts';
import { type Authority, startAuthority } from '../support/servers/sigstore.ts';

export const PROVENANCE = 'https://slsa.dev/provenance/v1';
export const SHA512 = createHash('sha512').update('the package').digest();
export const INTEGRITY = `sha512-${SHA512.toString('base64')}`;

export interface Registries {
  server: IndexServer;
  authority: Authority;
  rootFile: string;
  /** Settings of a hub. */
  settings: Record<string, string>;
}

export async function startRegistries(t: Ending): Promise<Registries> {
  const server = await startIndexServer(t);
  const authority = await startAuthority();
  const rootFile = join(await tempDir(t), 'trusted_root.json');
  await writeFile(rootFile, JSON.stringify(authority.root));
  const settings = { TRUST_NPM_REGISTRY: server.origin, TRUST_PYPI_INDEX: server.origin, TRUST_ROOT_FILE: rootFile };
  return { server, authority, rootFile, settings };
}

export function statement(subject: { name: string; digest: JsonObject }, predicateType = PROVENANCE): JsonObject {
  return { _type: 'https://in-toto.io/Statement/v1', subject: [subject], predicateType, predicate: {} };
}

export function npmStatement(name: string, sha512 = SHA512.toString('hex')): JsonObject {
  return statement({ name: `pkg:npm/${name.replace('@', '%40')}@1.0.0`, digest: { sha512 } });
}

/** Version 1.0.0 of a package with the bundle as its provenance. */
export function putNpm(server: IndexServer, name: string, bundle: unknown): void {
  const path = name.replace('/', '%2f');
  server.put(`/${path}/1.0.0`, { dist: { integrity: INTEGRITY, attestations: { url: 'https://x.example' } } });
  server.put(`/-/npm/v1/attestations/${path}@1.0.0`, {
    attestations: [
      { predicateType: 'https://github.com/npm/attestation/tree/main/specs/publish/v0.1', bundle: {} },
      { predicateType: PROVENANCE, bundle },
    ],
  });
}
