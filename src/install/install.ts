// The story of an install: what is asked for, the plan, then the steps, once the target is free.
import { HubError } from '../errors.ts';
import type { JsonObject } from '../lib/json.ts';
import { carryOut, type InstallTools } from './carry-out.ts';
import type { InstallListener, InstallPlan, InstallReport, InstallRequest, Lockfile } from './contract.ts';
import { explain } from './explain.ts';
import { assertLocked } from './frozen.ts';
import { type FetchManifest, withLockedManifest } from './locked-manifest.ts';
import { EMPTY_LOCKFILE, foundLockfile, readLockfile } from './lockfile.ts';
import { planInstall, shownPlan } from './plan.ts';
import { findSubject, type SubjectCatalog, wholeId } from './subject.ts';
import { checkTarget, prepareTarget, type TargetRule, targetFault } from './target.ts';
import { createTargetQueue } from './target-queue.ts';

export interface Install {
  /** @throws HubError when the request cannot be carried out at all; what fails later is in the report. */
  install(request: InstallRequest, onEvent?: InstallListener): Promise<InstallReport>;
  /** Where a target is on this machine, links resolved; makes nothing. @throws HubError `invalid_request` */
  folderOf(target: string): Promise<string>;
  /** Ends what is under way, and waits until it has ended. */
  close(): Promise<void>;
}

export interface InstallDependencies extends InstallTools {
  catalog: SubjectCatalog;
  /** Documents that say the same in another form, such as the `server.json` of an MCP registry, as manifests; the same one for a manifest. */
  manifestOf: (document: JsonObject) => JsonObject;
  /** For what is in a lockfile and not in the catalog. */
  fetchManifest: FetchManifest;
  targets: TargetRule;
  /** Installs into different targets at a time. */
  atOnce: number;
}

export function createInstall(dependencies: InstallDependencies): Install {
  const { catalog, manifestOf, fetchManifest, targets, atOnce, ...tools } = dependencies;
  const inTurn = createTargetQueue(atOnce);
  const stopping = new AbortController();
  const { signal } = stopping;
  const underWay = new Set<Promise<unknown>>();

  async function install(given: InstallRequest, onEvent: InstallListener): Promise<InstallReport> {
    const whole = await checkTarget(given.target, targets);
    const asked = { ...given, id: wholeId(given) };
    const { request, isBesideCatalog } = await withLockedManifest(withManifest(asked, manifestOf), {
      catalog,
      fetchManifest,
      readLockfile: () => lockfileOf(whole),
      signal,
    });
    // Only looked at: what the lockfile does not agree with must not get into the catalog.
    if (request.frozen) {
      const asked = await findSubject(catalog, { ...request, dry_run: true }, { isBesideCatalog });
      assertLocked(await lockfileOf(whole), asked, planInstall(asked).artifacts);
    }
    const subject = await findSubject(catalog, request, { isBesideCatalog });
    const makePlan = async () => {
      // A lockfile that cannot be read is told by its own step.
      const made = planInstall(subject, await lockfileOf(whole).catch(() => undefined));
      onEvent({ kind: 'plan', plan: shownPlan(made) });
      return made;
    };
    if (request.dry_run) {
      const plan = await makePlan();
      const fault = await targetFault(request.target, targets);
      return dryReport({
        request,
        warnings: subject.warnings,
        plan: shownPlan(plan),
        fault,
        lockfile: await readLockfile(whole).catch(foundLockfile),
      });
    }
    const targetDir = await prepareTarget(request.target, targets);
    return inTurn(targetDir, signal, async () => {
      // Only now: whoever had the target before may have put something where this would go.
      const plan = await makePlan();
      return carryOut({ request, subject, plan, targetDir, signal, onEvent }, tools);
    });
  }

  return {
    install(request, onEvent = () => {}) {
      if (signal.aborted) return Promise.reject(ending());
      // Not tied to whoever asked: an install that was begun runs to its end.
      const work = install(request, onEvent).catch((error) => {
        throw signal.aborted && error.name === 'AbortError' ? ending() : error;
      });
      underWay.add(work);
      const done = () => underWay.delete(work);
      work.then(done, done);
      return work;
    },
    folderOf: (target) => checkTarget(target, targets),
    async close() {
      stopping.abort();
      await Promise.allSettled(underWay);
    },
  };
}

function withManifest(asked: InstallRequest, manifestOf: InstallDependencies['manifestOf']): InstallRequest {
  if (!asked.manifest) return asked;
  const manifest = manifestOf(asked.manifest);
  if (manifest === asked.manifest) return asked;
  // As ingest does: whoever goes to its address expects a manifest, which only the hub has.
  return { ...asked, manifest, source_url: undefined, provenance: undefined };
}

async function lockfileOf(targetDir: string): Promise<Lockfile | undefined> {
  try {
    return await readLockfile(targetDir);
  } catch (error) {
    throw new HubError('lockfile_mismatch', explain(error), { cause: error });
  }
}

interface DryRun {
  request: InstallRequest;
  warnings: string[];
  plan: InstallPlan;
  /** Of the target. */
  fault: string | undefined;
  lockfile: Lockfile | undefined;
}

function dryReport({ request, warnings, plan, fault, lockfile }: DryRun): InstallReport {
  const faults = [fault, ...[...plan.artifacts, ...plan.adapters].map((planned) => planned.fault)];
  return {
    ok: faults.every((each) => each === undefined),
    dry_run: true,
    target: request.target,
    ...(fault === undefined ? {} : { target_fault: fault }),
    warnings,
    plan,
    results: [],
    files_written: [],
    lockfile: lockfile ?? EMPTY_LOCKFILE,
  };
}

function ending(): HubError {
  return new HubError('overloaded', 'The hub is ending: install again when it is back.');
}
