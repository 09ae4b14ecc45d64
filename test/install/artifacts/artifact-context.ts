// What an artifact installer gets from an install: a staging folder, real programs and a network with limits.

import assert from 'node:assert/strict';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type {
  ArtifactContext,
  ArtifactKind,
  Built,
  Resolution,
  Trust,
} from '../../../src/install/artifacts/artifact.ts';
import { InstallError } from '../../../src/install/errors.ts';
import { createDownload } from '../../../src/lib/net/download.ts';
import { createFetch } from '../../../src/lib/net/fetch.ts';
import { createGuardedProxy } from '../../../src/lib/net/guarded-proxy.ts';
import { plainIssue } from '../../../src/lib/plain-issue.ts';
import { createRun } from '../../../src/lib/run.ts';

export const SHARED_HUB: Trust = { isOwnMachine: false, allowScripts: false, allowBuild: false, credentialsFor: [] };
export const OWN_MACHINE: Trust = { ...SHARED_HUB, isOwnMachine: true };

export interface Surroundings {
  env?: NodeJS.ProcessEnv;
  trust?: Partial<Trust>;
  allowPrivate?: boolean;
}

export async function artifactContext(t: TestContext, surroundings: Surroundings = {}): Promise<ArtifactContext> {
  const { env = process.env, trust = {}, allowPrivate = true } = surroundings;
  const [network, downloads, proxy] = [
    createFetch({ allowPrivate }),
    createDownload({ allowPrivate }),
    createGuardedProxy({ allowPrivate }),
  ];
  t.after(() => Promise.all([network, downloads, proxy].map((each) => each.close())));
  return {
    stagingDir: await emptyFolder(t),
    home: env.HOME ?? homedir(),
    signal: new AbortController().signal,
    run: createRun(env, proxy),
    fetch: network.fetch,
    download: downloads.download,
    vetAddress: downloads.vetAddress,
    allowPrivateNetwork: allowPrivate,
    trust: { ...SHARED_HUB, ...trust },
    publishedAt: null,
  };
}

export async function emptyFolder(t: TestContext): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'hub-artifact-')));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function resolve<Spec>(
  t: TestContext,
  kind: ArtifactKind<Spec>,
  spec: unknown,
  surroundings?: Surroundings,
): Promise<Resolution> {
  return kind.resolve(kind.spec.parse(spec), await artifactContext(t, surroundings));
}

/** Builds like another machine that has only the lockfile: the resolution is parsed from its JSON. */
export async function build<Spec>(
  t: TestContext,
  kind: ArtifactKind<Spec>,
  { spec, resolution, ...surroundings }: Surroundings & { spec: unknown; resolution: Resolution },
): Promise<Built & { folder: string }> {
  const folder = await emptyFolder(t);
  const locked = JSON.parse(JSON.stringify(resolution));
  const built = await kind.build(kind.spec.parse(spec), locked, folder, await artifactContext(t, surroundings));
  return { ...built, folder };
}

/** The message of the error. */
export async function failure(running: Promise<unknown>): Promise<string> {
  const error = await running.then(
    (result) => assert.fail(`It did not fail: ${JSON.stringify(result)}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof InstallError, error instanceof Error ? error.stack : String(error));
  return error.message;
}

export function specFaults<Spec>(kind: ArtifactKind<Spec>, spec: unknown): string {
  const read = kind.spec.safeParse(spec, { error: plainIssue });
  return read.success ? '' : read.error.issues.map(({ message }) => message).join('; ');
}
