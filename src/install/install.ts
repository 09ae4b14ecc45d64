// The story of an install: the subject, the plan, then the steps, once the target is free.
import { tmpdir } from 'node:os';
import { HubError } from '../errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { Destination } from './artifacts/destination.ts';
import { contextOf, type InstallTools } from './build-artifacts.ts';
import type {
  InstallListener,
  InstallPlan,
  InstallReport,
  InstallRequest,
  Lockfile,
  LockReport,
  UninstallReport,
  UninstallRequest,
} from './contract.ts';
import { InstallError, invalidRequest } from './errors.ts';
import { assertSamePlan } from './lockfile/lock-entry.ts';
import { EMPTY_LOCKFILE, findLocked, lockedEntity, readLockfile, withoutEntity } from './lockfile/lockfile.ts';
import { verifyLockfile } from './lockfile/verify.ts';
import { planInstall, shownPlan } from './plan.ts';
import { uninstallEntity } from './removal.ts';
import { runSteps } from './run-steps.ts';
import {
  type FetchManifest,
  findSubject,
  type InstallSubject,
  lockedSubject,
  type SubjectCatalog,
  wholeId,
} from './subject.ts';
import { checkTarget, prepareTarget, type TargetRule, targetFault, unusable } from './target/target.ts';
import { createTargetQueue } from './target/target-queue.ts';

export interface Install {
  /** @throws HubError when the request cannot be carried out at all; what fails later is in the report. */
  install(request: InstallRequest, onEvent?: InstallListener): Promise<InstallReport>;
  /** @throws HubError `entity_not_found` when the lockfile of the target does not hold it. */
  uninstall(request: UninstallRequest): Promise<UninstallReport>;
  verify(target: string): Promise<LockReport | undefined>;
  /** Undefined when the target has none. @throws HubError `lockfile_mismatch` when it cannot be read. */
  lockfile(target: string): Promise<Lockfile | undefined>;
  /** Where a target is on this machine, links resolved; makes nothing. @throws HubError `invalid_request` */
  folderOf(target: string): Promise<string>;
  close(): Promise<void>;
}

export interface InstallDependencies extends InstallTools {
  catalog: SubjectCatalog;
  /** Turns documents of other forms, such as the `server.json` of an MCP registry, into manifests. */
  manifestOf: (document: JsonObject) => JsonObject;
  /** For an entity that is in a lockfile and not in the catalog. */
  fetchManifest: FetchManifest;
  targets: TargetRule;
  atOnce: number;
}

export function createInstall(dependencies: InstallDependencies): Install {
  const { catalog, manifestOf, fetchManifest, targets, atOnce, ...tools } = dependencies;
  const inTurn = createTargetQueue(atOnce);
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Set<Promise<unknown>>();

  async function install(given: InstallRequest, onEvent: InstallListener): Promise<InstallReport> {
    const before = await lockfileOf(await checkTarget(given.target, targets));
    const request = withManifest({ ...given, id: wholeId(given), dest: readDest(given.dest) }, manifestOf);
    const subject = request.frozen
      ? await lockedSubject(request, lockedEntity(before, request.id), {
          catalog,
          fetchManifest: (url) => fetchManifest(url, signal),
        })
      : await findSubject(catalog, request);
    if (request.dry_run) {
      const { plan } = await makePlan(request, subject, before, onEvent);
      return planReport(request, subject, {
        plan,
        lockfile: before,
        fault: await targetFault(request.target, targets),
      });
    }
    const targetDir = await prepareTarget(request.target, targets);
    return inTurn(targetDir, signal, async () => {
      const lockfile = await lockfileOf(targetDir);
      const planned = await makePlan(request, subject, lockfile, onEvent);
      const watch = { onEvent, log: tools.world.log };
      return runSteps({ request, subject, ...planned, targetDir, lockfile, signal, watch }, tools);
    });
  }

  async function makePlan(
    request: InstallRequest,
    subject: InstallSubject,
    lockfile: Lockfile | undefined,
    onEvent: InstallListener,
  ) {
    const known = findLocked(lockfile, subject.uid);
    const others = lockfile ? withoutEntity(lockfile, subject.uid).entities : [];
    const context = contextOf(subject, tools, { signal, stagingDir: tmpdir() });
    const planned = await planInstall({ subject, request, known, others, context });
    if (request.frozen && known && !subject.isFromLockfile) assertSamePlan(planned.plan, known);
    onEvent({ kind: 'plan', plan: shownPlan(planned.plan) });
    return { ...planned, known, others };
  }

  /** An install that was begun runs to its end, even if its caller is gone. */
  function track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.catch((error) => {
      throw signal.aborted && error.name === 'AbortError' ? ending() : error;
    });
    underWay.add(tracked);
    const done = () => underWay.delete(tracked);
    tracked.then(done, done);
    return tracked;
  }

  return {
    install: (request, onEvent = () => {}) =>
      signal.aborted ? Promise.reject(ending()) : track(install(request, onEvent)),
    async uninstall(request) {
      const targetDir = await checkTarget(request.target, targets);
      lockedEntity(await lockfileOf(targetDir), request.id);
      return track(inTurn(targetDir, signal, () => uninstallEntity(request, targetDir)));
    },
    verify: async (target) => verifyLockfile(await checkTarget(target, targets)),
    lockfile: async (target) => lockfileOf(await checkTarget(target, targets)),
    folderOf: (target) => checkTarget(target, targets),
    async close() {
      stopping.abort();
      await Promise.allSettled(underWay);
    },
  };
}

function planReport(
  { target }: InstallRequest,
  { warnings }: InstallSubject,
  { plan, lockfile = EMPTY_LOCKFILE, fault }: { plan: InstallPlan; lockfile?: Lockfile; fault?: string },
): InstallReport {
  const chosen = plan.artifacts.filter((artifact) => !artifact.alternative);
  const isFaultless = [...chosen, ...plan.adapters].every((planned) => planned.fault === undefined);
  return {
    ok: isFaultless && fault === undefined,
    dry_run: true,
    target,
    ...(fault ? { target_fault: fault } : {}),
    warnings,
    plan: shownPlan(plan),
    results: [],
    files_written: [],
    lockfile,
  };
}

function withManifest(asked: InstallRequest, manifestOf: InstallDependencies['manifestOf']): InstallRequest {
  if (!asked.manifest) return asked;
  const manifest = manifestOf(asked.manifest);
  if (manifest === asked.manifest) return asked;
  // The address of the other document does not lead to a manifest: only the hub has one.
  return { ...asked, manifest, source_url: undefined, provenance: undefined };
}

function readDest(dest: InstallRequest['dest']): string | undefined {
  if (dest === undefined || dest === null) return undefined;
  const read = Destination.safeParse(dest);
  if (read.success) return read.data;
  throw invalidRequest('dest', read.error.issues[0]?.message ?? 'is not valid');
}

async function lockfileOf(targetDir: string): Promise<Lockfile | undefined> {
  try {
    return await readLockfile(targetDir);
  } catch (error) {
    if (!(error instanceof InstallError)) throw unusable(error);
    throw new HubError('lockfile_mismatch', error.message, { cause: error });
  }
}

function ending(): HubError {
  return new HubError('overloaded', 'The hub is shutting down. Install again when it is back.');
}
