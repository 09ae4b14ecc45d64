// Registers all due entities concurrently: pauses when the gateway asks for it, and stops when it is unusable.
import { registrationFault } from '../../catalog/server.ts';
import type { EntityUid } from '../../catalog/uid.ts';
import type { Clock } from '../../lib/world.ts';
import type { Registration, RegistrationEffort, RegistrationProgress } from '../contract.ts';
import type { RegistrableEntity, RegistrationRecord, RegistrationStore } from '../store.ts';
import type { Attempt, RegisterEntity } from './batch.ts';

export interface RegistrationRun {
  store: Pick<RegistrationStore, 'countDue' | 'due' | 'record'>;
  effort: RegistrationEffort;
  concurrency: number;
  now: Clock;
  signal: AbortSignal;
  onProgress?: (progress: RegistrationProgress) => void;
  register: RegisterEntity;
  /** Stores the outcome; resolves to false if the entity was removed or blocked. */
  remember(entity: RegistrableEntity, attempt: Attempt): Promise<boolean>;
  /** Stores only the items in the gateway, for an interrupted attempt. */
  rememberItems(entity: RegistrableEntity, attempt: Attempt): Promise<void>;
}

export interface RunReport {
  registered: number;
  failed: number;
  /** How many of the failed ones can never be registered with their current manifests; absent if none. */
  unregistrable?: number;
  /** Names of items that were removed from the gateway. */
  removed?: string[];
  /** Why not all entities were tried. */
  stopped?: string;
  note?: string;
}

const PAGE_SIZE = 200;

export async function registerAllDue(run: RegistrationRun): Promise<RunReport> {
  const { concurrency, signal, register, remember, rememberItems } = run;
  const report: RunReport = { registered: 0, failed: 0 };
  const reportProgress = await createProgressReporter(run, report);
  const entities = dueEntities(run, report, reportProgress);

  /** Resolves to undefined if the attempt has no outcome to record. */
  async function registerOne(entity: RegistrableEntity): Promise<Attempt | undefined> {
    if (report.stopped || signal.aborted) return undefined;
    const attempt = await register(entity);
    const { registration } = attempt;
    const isCutOff = signal.aborted && registration.outcome !== 'registered';
    if (!isCutOff && registration.outcome === 'gateway_down') report.stopped ??= registration.error;
    if (!isCutOff && !hasNothingNew(entity, registration)) return attempt;
    // It may still have created items in the gateway.
    await rememberItems(entity, attempt);
    return undefined;
  }

  async function write(entity: RegistrableEntity, attempt: Attempt): Promise<void> {
    const isThere = await remember(entity, attempt);
    if (isThere && attempt.registration.outcome !== 'registered') report.failed += 1;
    else if (isThere && isNews(entity, attempt.registration)) report.registered += 1;
    reportProgress();
  }

  async function work(): Promise<void> {
    let written: Promise<void> = Promise.resolve();
    try {
      for (let next = await entities.next(); !next.done; next = await entities.next()) {
        const attempt = await registerOne(next.value);
        // Writes at most one outcome while the next server is tried.
        await written;
        if (!attempt) continue;
        written = write(next.value, attempt);
        written.catch(() => {});
      }
      await written;
    } catch (error) {
      report.stopped ??= 'the hub could not continue';
      throw error;
    }
  }

  const workers = await Promise.allSettled(Array.from({ length: concurrency }, work));
  const failure = workers.find((worker) => worker.status === 'rejected');
  if (failure) throw failure.reason;
  if (signal.aborted) report.stopped ??= 'the hub is stopping';
  return report;
}

/** Reports progress. The total is counted only once, although more may become due. */
async function createProgressReporter({ store, effort, now, onProgress }: RegistrationRun, report: RunReport) {
  if (!onProgress) return () => {};
  const due = await store.countDue({ effort, now: now() });
  return () => {
    const done = report.registered + report.failed;
    onProgress({ done, total: Math.max(due, done) });
  };
}

/** Yields due entities page by page, and records those that can never be registered as failed. */
async function* dueEntities(
  run: RegistrationRun,
  report: RunReport,
  reportProgress: () => void,
): AsyncGenerator<RegistrableEntity> {
  const { store, effort, now } = run;
  let after: EntityUid = '';
  while (!report.stopped && !run.signal.aborted) {
    const at = now();
    const due = await store.due({ effort, now: at, limit: PAGE_SIZE, after });
    const last = due.at(-1);
    if (!last) return;
    after = last.uid;
    const unregistrable = due.flatMap((entity) => unregistrableRecord(entity, at));
    const { size: recorded } = await store.record(unregistrable);
    report.failed += recorded;
    if (recorded > 0) report.unregistrable = (report.unregistrable ?? 0) + recorded;
    reportProgress();
    const marked = new Set(unregistrable.map(({ uid }) => uid));
    yield* due.filter(({ uid }) => !marked.has(uid));
  }
}

/** Whether the gateway has a new or changed item of the entity. */
export function isNews({ isRegistered }: RegistrableEntity, registration: Registration): boolean {
  return !isRegistered || hasChanges(registration);
}

function hasChanges({ calls }: Registration): boolean {
  return calls.some(({ outcome }) => outcome === 'created' || outcome === 'updated');
}

/** No call was made, and the entity's last error is more informative than an unusable gateway. */
function hasNothingNew({ tries }: RegistrableEntity, { outcome, calls }: Registration): boolean {
  return outcome === 'gateway_down' && calls.length === 0 && tries > 0;
}

function unregistrableRecord(entity: RegistrableEntity, at: Date): RegistrationRecord[] {
  const { uid, manifestDigest, tries } = entity;
  const error = registrationFault(entity);
  if (error === undefined) return [];
  return [{ uid, at, manifestDigest, error, isNews: false, nextTryAt: null, tries: tries + 1 }];
}
