// Whether what is on disk still is what the lockfile of a folder says.
import { realpath } from 'node:fs/promises';
import { RunError } from '../../lib/run.ts';
import type { Run } from '../../lib/world.ts';
import { LOCKFILE_NAME, type LockCheck, type LockReport } from '../contract.ts';
import { explain } from '../explain.ts';
import { readLockfile } from '../lockfile.ts';
import { verifyAdapter } from './adapters.ts';
import { type VerifyContext, verifyArtifact } from './artifacts.ts';
import { different, type Found, unchecked } from './check.ts';

/** Undefined when the folder has no lockfile. Nothing is fetched, changed or run out of it. @throws InstallError when the lockfile cannot be read. */
export async function verifyLockfile({
  target,
  run,
  signal,
}: {
  target: string;
  run: Run;
  signal: AbortSignal;
}): Promise<LockReport | undefined> {
  const targetDir = await realpath(target).catch(() => undefined);
  const lockfile = targetDir === undefined ? undefined : await readLockfile(targetDir);
  if (targetDir === undefined || !lockfile) return undefined;
  const context: VerifyContext = { targetDir, run, signal };
  const checks: LockCheck[] = [];
  for (const { id, artifacts, adapters } of lockfile.entities) {
    for (const artifact of artifacts)
      checks.push({
        entity: id,
        what: artifact.kind,
        path: artifact.path,
        ...(await verifyArtifact(artifact, context).catch(cannotTell)),
      });
    for (const adapter of adapters)
      checks.push({
        entity: id,
        what: `adapter ${adapter.framework}`,
        path: adapter.path,
        ...(await verifyAdapter(adapter, targetDir).catch(cannotTell)),
      });
  }
  const ok = checks.every(({ outcome }) => outcome === 'same' || outcome === 'unchecked');
  return { ok, target: targetDir, lockfile: LOCKFILE_NAME, checks };
}

/** Without a program there is nothing to be told; what cannot be read any more is another than it was. */
function cannotTell(error: unknown): Found {
  const { cause } = (error ?? {}) as Error;
  if (error instanceof RunError || cause instanceof RunError) return unchecked(explain(error));
  return different(error instanceof SyntaxError ? 'cannot be read any more' : explain(error));
}
