// A small registry of npm packages on loopback.
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type IndexServer, startIndexServer } from '../../support/servers/index-server.ts';
import { rawTarGz } from './raw-archives.ts';

export interface PublishedPackage {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  /** The dependencies bundled in its archive. */
  bundleDependencies?: string[];
  /** Whether it has an npm-shrinkwrap.json. */
  _hasShrinkwrap?: boolean;
  scripts?: Record<string, string>;
  bin?: Record<string, string>;
  files?: Record<string, string>;
  /** The integrity that the registry reports, even if it is wrong. */
  integrity?: string;
  /** The address of the tarball that the registry reports; by default below the registry. */
  tarball?: string;
}

export interface NpmRegistry {
  host: IndexServer;
  /** A home folder whose .npmrc names this registry and contains a secret. */
  env: NodeJS.ProcessEnv;
  publish(published: PublishedPackage): { integrity: string };
}

export const SECRET = 'npm-s3cret-token';

export async function startNpmRegistry(t: TestContext): Promise<NpmRegistry> {
  const host = await startIndexServer(t);
  const home = await mkdtemp(join(tmpdir(), 'hub-npm-home-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  const { host: authority } = new URL(host.origin);
  await writeFile(join(home, '.npmrc'), `registry=${host.origin}/\n//${authority}/:_authToken=${SECRET}\n`);
  const packuments = new Map<
    string,
    { name: string; 'dist-tags': { latest: string }; versions: Record<string, object> }
  >();

  function publish({
    files = { 'index.js': 'module.exports = 1;\n' },
    integrity: claimed,
    tarball: address,
    ...manifest
  }: PublishedPackage) {
    const content = { ...files, 'package.json': JSON.stringify(manifest) };
    const tarball = rawTarGz(
      Object.entries(content).map(([name, text]) => ({ name: `package/${name}`, content: text })),
    );
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    const path = `/${manifest.name}/-/${manifest.name.split('/').at(-1)}-${manifest.version}.tgz`;
    host.put(path, tarball);
    if (address?.startsWith(host.origin)) host.put(new URL(address).pathname, tarball);
    const packument = packuments.get(manifest.name) ?? {
      name: manifest.name,
      'dist-tags': { latest: '' },
      versions: {},
    };
    packument['dist-tags'].latest = manifest.version;
    packument.versions[manifest.version] = {
      ...manifest,
      dist: { tarball: address ?? host.url(path), integrity: claimed ?? integrity },
    };
    packuments.set(manifest.name, packument);
    for (const name of [manifest.name, manifest.name.replace('/', '%2f')])
      for (const below of ['', '/npm']) host.put(`${below}/${name}`, packument, { type: 'application/json' });
    return { integrity };
  }

  return { host, env: { PATH: process.env.PATH, HOME: home }, publish };
}
