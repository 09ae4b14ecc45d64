// The install use case: finds the subject, makes the plan, and runs the steps once the target is free.
import { existsSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { HubError, invalidRequest } from '../errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { findConfigFault } from './adapters/plan-adapters.ts';
import { previewAdapters } from './adapters/write-adapters.ts';
import { readDest } from './artifacts/destination.ts';
import { contextOf, type InstallJob, type InstallTools, previewArtifacts } from './build-artifacts.ts';
import type {
  InstallListener,
  InstallReport,
  InstallRequest,
  Lockfile,
  LockReport,
  UninstallReport,
  UninstallRequest,
} from './contract.ts';
import { InstallError } from './errors.ts';
import { assertLaunchersWritable } from './launchers.ts';
import { findLocked, lockedEntity, readLockfile, withoutEntity } from './lockfile/lockfile.ts';
import { verifyLockfile } from './lockfile/verify.ts';
import { hasFault, planInstall, shownPlan } from './plan.ts';
import { previewRemoval, removeUnused, uninstallEntity } from './removal.ts';
import { reportOf, runSteps } from './run-steps.ts';
import { runStep } from './step.ts';
import { findSubject, lockedSubject, type SubjectCatalog, wholeId } from './subject.ts';
import { checkTarget, type TargetRule, unusable, usableTarget } from './target/target.ts';
import { createTargetQueue } from './target/target-queue.ts';

export interface Install {
  /** @throws HubError if the request cannot be carried out at all; later failures are in the report. */
  install(request: InstallRequest, onEvent?: InstallListener): Promise<InstallReport>;
  /** @throws HubError `entity_not_found` if the target's lockfile does not list the entity. */
  uninstall(request: UninstallRequest): Promise<UninstallReport>;
  verify(target: string): Promise<LockReport | undefined>;
  /** Resolves to undefined if the target has no lockfile. @throws HubError `lockfile_mismatch` if it cannot be read. */
  lockfile(target: string): Promise<Lockfile | undefined>;
  /** The real path of a target; creates nothing. @throws HubError `invalid_request` */
  folderOf(target: string): Promise<string>;
  close(): Promise<void>;
}

export interface InstallDependencies extends InstallTools {
  catalog: SubjectCatalog;
  /** Converts other documents, such as the `server.json` of an MCP registry, to manifests. */
  manifestOf: (document: JsonObject) => JsonObject;
  targets: TargetRule;
  atOnce: number;
}

export function createInstall(dependencies: InstallDependencies): Install {
  const { catalog, manifestOf, targets, atOnce, ...tools } = dependencies;
  const inTurn = createTargetQueue(atOnce);
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Set<Promise<unknown>>();

  async function lockfileOf(targetDir: string): Promise<Lockfile | undefined> {
    // Callers on other machines must not see paths of this one.
    return readLockfile(targetDir, tools.rules.trust.isOwnMachine ? targetDir : undefined).catch(refuse);
  }

  async function install(given: InstallRequest, onEvent: InstallListener): Promise<InstallReport> {
    const targetDir = await usableTarget(given.target, targets);
    const before = await lockfileOf(targetDir);
    const request = withManifest({ ...given, id: wholeId(given), dest: readDest(given.dest) }, manifestOf);
    const subject = request.frozen
      ? await lockedSubject(catalog, lockedEntity(before, onlyFrozen(request).id))
      : await findSubject(catalog, request);
    const job = { request, subject, targetDir };
    if (request.dry_run) return reportOf(await makePlan(job, before, onEvent));
    const existed = existsSync(targetDir);
    return inTurn(targetDir, signal, async (isNew) => {
      let isInstalled = false;
      try {
        const planned = await makePlan(job, await lockfileOf(targetDir), onEvent);
        const watch = { onEvent, log: tools.world.log };
        const fault = request.frozen ? undefined : findConfigFault(planned.plan, subject);
        const refused = () => Promise.reject(new InstallError(`Nothing was built. ${fault}`));
        if (fault) return reportOf(planned, [(await runStep('adapters.write', watch, refused)).result]);
        const report = await runSteps({ ...planned, signal, watch }, tools);
        isInstalled = report.ok;
        return report;
      } finally {
        await removeUnused(targetDir, isNew && !isInstalled);
        if (!existed && !isInstalled) await rmdir(targetDir).catch(() => {});
      }
    });
  }

  async function makePlan(
    job: Pick<InstallJob, 'request' | 'subject' | 'targetDir'>,
    lockfile: Lockfile | undefined,
    onEvent: InstallListener,
  ) {
    const { uid } = job.subject;
    const known = findLocked(lockfile, uid);
    const others = lockfile ? withoutEntity(lockfile, uid).entities : [];
    if (job.request.frozen && known) await assertLaunchersWritable(job.targetDir, known).catch(refuse);
    const context = contextOf(job.subject, tools, { signal, stagingDir: tmpdir() });
    const { launch, plan } = await planInstall({ ...job, known, others, context });
    const planned = { ...job, known, others, lockfile, launch, plan };
    plan.adapters = await previewAdapters({ ...planned, planned: plan.adapters });
    if (job.request.dry_run) {
      const { artifacts, folders } = await previewArtifacts(planned, context);
      plan.artifacts = artifacts;
      if (!hasFault(plan)) plan.removes = await previewRemoval(planned, folders).catch(refuse);
    }
    onEvent({ kind: 'plan', plan: shownPlan(plan) });
    return planned;
  }

  /** A started install runs to its end, even after its caller has disconnected. */
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
    async verify(target) {
      const targetDir = await checkTarget(target, targets);
      return verifyLockfile(targetDir, await lockfileOf(targetDir));
    },
    lockfile: async (target) => lockfileOf(await checkTarget(target, targets)),
    folderOf: (target) => checkTarget(target, targets),
    async close() {
      stopping.abort();
      await Promise.allSettled(underWay);
    },
  };
}

/** @throws HubError `invalid_request` */
function onlyFrozen(request: InstallRequest): InstallRequest {
  const { manifest, clients, prefer, dest, update } = request;
  const [chosen] = Object.entries({ manifest, clients, prefer, dest, update }).find(([, value]) => value) ?? [];
  if (chosen) throw invalidRequest(chosen, 'cannot be combined with frozen, which installs what the lockfile says');
  return request;
}

/** @throws HubError */
function refuse(error: unknown): never {
  if (!(error instanceof InstallError)) throw unusable(error);
  throw new HubError('lockfile_mismatch', error.message, { cause: error });
}

function withManifest(asked: InstallRequest, manifestOf: InstallDependencies['manifestOf']): InstallRequest {
  const manifest = asked.manifest && manifestOf(asked.manifest);
  // The address of another document does not serve its manifest; only the hub does.
  return manifest === asked.manifest ? asked : { ...asked, manifest, source_url: undefined, provenance: undefined };
}

function ending(): HubError {
  return new HubError('overloaded', 'The hub is shutting down. Install again when it is back.');
}
