// Everything that is due, some at a time: pauses when the gateway asks for it, and stops when it cannot be used.
import { registrationFault } from '../catalog/server.ts';
import type { EntityUid } from '../catalog/uid.ts';
import type { Clock } from '../lib/world.ts';
import type { RegisterEntity } from './batch.ts';
import type { Registration, RegistrationProgress } from './contract.ts';
import type { DueClaim, RegistrableEntity, RegistrationRecord, RegistrationStore } from './store.ts';

export interface RegistrationRun {
  store: Pick<RegistrationStore, 'countDue' | 'claimDue' | 'record' | 'release'>;
  claim: Pick<DueClaim, 'types' | 'force'>;
  concurrency: number;
  now: Clock;
  signal: AbortSignal;
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  onProgress?: (progress: RegistrationProgress) => void;
  register: RegisterEntity;
  /** Stores the outcome; false when the entity is gone. */
  remember(entity: RegistrableEntity, registration: Registration): Promise<boolean>;
}

export interface RunReport {
  registered: number;
  failed: number;
  /** Why not everything was tried. */
  stopped?: string;
}

const CLAIM_SIZE = 200;
const CLAIM_MS = 600_000;
/** A pause that the gateway asks for is kept within a sync up to this; a longer one ends the sync. */
const LONGEST_PAUSE_MS = 120_000;
/** As many pauses as this with nothing done in between: the gateway does not mean it. */
const MOST_PAUSES_IN_A_ROW = 5;

export async function registerAllDue(run: RegistrationRun): Promise<RunReport> {
  const { store, concurrency, signal, register, remember } = run;
  const report: RunReport = { registered: 0, failed: 0 };
  const tell = await createTeller(run, report);
  const untried: EntityUid[] = [];
  const pauses = createPauses(run);
  const entities = dueEntities(run, report, tell);

  /** Undefined when it was not tried. */
  async function registerOne(entity: RegistrableEntity): Promise<Registration | undefined> {
    for (;;) {
      await pauses.over();
      if (signal.aborted) report.stopped ??= 'the hub is stopping';
      if (report.stopped) return undefined;
      const registration = await register(entity);
      // What was cut off says nothing about the gateway.
      if (signal.aborted && registration.outcome !== 'registered') continue;
      if (pauses.begin(registration)) continue;
      if (registration.outcome === 'gateway_down') report.stopped ??= registration.error;
      return hasNothingNew(entity, registration) ? undefined : registration;
    }
  }

  async function write(entity: RegistrableEntity, registration: Registration | undefined): Promise<void> {
    if (!registration) return void untried.push(entity.uid);
    const isThere = await remember(entity, registration);
    if (isThere) report[registration.outcome === 'registered' ? 'registered' : 'failed'] += 1;
    tell();
  }

  async function work(): Promise<void> {
    let written: Promise<void> = Promise.resolve();
    try {
      for (let next = await entities.next(); !next.done; next = await entities.next()) {
        const registration = await registerOne(next.value);
        // One outcome is written down while the next server is tried, and no more than one.
        await written;
        written = write(next.value, registration);
        written.catch(() => {});
      }
      await written;
    } catch (error) {
      report.stopped ??= 'the hub could not go on';
      throw error;
    }
  }

  const workers = await Promise.allSettled(Array.from({ length: concurrency }, work));
  // Whatever nobody came to, when all workers failed.
  for await (const { uid } of entities) untried.push(uid);
  const released = store.release(untried);
  const failure = workers.find((worker) => worker.status === 'rejected');
  if (failure) {
    await released.catch(() => {});
    throw failure.reason;
  }
  await released;
  if (signal.aborted) report.stopped ??= 'the hub is stopping';
  return report;
}

/** Tells how far the run is. Counted once: more may become due on the way, and another hub may take some. */
async function createTeller({ store, claim, now, onProgress }: RegistrationRun, report: RunReport) {
  if (!onProgress) return () => {};
  const due = await store.countDue({ ...claim, now: now() });
  return () => {
    const done = report.registered + report.failed;
    onProgress({ done, total: Math.max(due, done) });
  };
}

/** Page by page; those for which no call is worth making are marked on the way. */
async function* dueEntities(
  run: RegistrationRun,
  report: RunReport,
  tell: () => void,
): AsyncGenerator<RegistrableEntity> {
  const { store, claim, now } = run;
  let after: EntityUid = '';
  while (!report.stopped && !run.signal.aborted) {
    const at = now();
    const until = new Date(at.getTime() + CLAIM_MS);
    const claimed = await store.claimDue({ ...claim, now: at, until, limit: CLAIM_SIZE, after });
    const last = claimed.at(-1);
    if (!last) return;
    after = last.uid;
    const hopeless = claimed.flatMap((entity) => hopelessRecord(entity, at));
    report.failed += (await store.record(hopeless)).size;
    tell();
    const marked = new Set(hopeless.map(({ uid }) => uid));
    yield* claimed.filter(({ uid }) => !marked.has(uid));
  }
}

/** One pause for all workers. */
function createPauses({ sleep, signal }: Pick<RegistrationRun, 'sleep' | 'signal'>) {
  let pause: Promise<void> | undefined;
  let inARow = 0;

  return {
    over: async () => pause,
    /** Whether the outcome asks for a pause that is worth keeping; if so, it is tried again after it. */
    begin(registration: Registration): boolean {
      if (registration.outcome !== 'gateway_down') inARow = 0;
      const pauseMs = registration.outcome === 'gateway_down' ? registration.retryAfterMs : undefined;
      if (pauseMs === undefined || pauseMs > LONGEST_PAUSE_MS) return false;
      if (pause) return true;
      inARow += 1;
      if (inARow > MOST_PAUSES_IN_A_ROW) return false;
      pause = sleep(pauseMs, signal)
        .catch(() => {})
        .finally(() => {
          pause = undefined;
        });
      return true;
    },
  };
}

/** No call was made for it, and the reason of its last failure tells more than that the gateway is down. */
function hasNothingNew({ tries }: RegistrableEntity, { outcome, calls }: Registration): boolean {
  return outcome === 'gateway_down' && calls.length === 0 && tries > 0;
}

function hopelessRecord(entity: RegistrableEntity, at: Date): RegistrationRecord[] {
  const { uid, manifestDigest, tries } = entity;
  const error = registrationFault(entity);
  return error === undefined ? [] : [{ uid, at, manifestDigest, error, name: null, nextTryAt: null, tries: tries + 1 }];
}
