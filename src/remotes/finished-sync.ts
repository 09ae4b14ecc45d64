// Describes a finished sync: its report, and its event for webhooks.
import type { NewEvent } from '../events/store.ts';
import type { PendingReport } from '../gateway/contract.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { IngestResult, SyncReport } from './contract.ts';

interface FinishedSync extends Pick<SyncReport, 'seeded' | 'count'> {
  results: IngestResult[];
  /** Undefined without a gateway. */
  registration: PendingReport | undefined;
}

export function syncReport({ seeded, count, results, registration }: FinishedSync): SyncReport {
  const failures = results.filter(({ ok }) => !ok);
  const { synced, ...outcome } = registrationFields(registration);
  return {
    seeded,
    ingested: results.filter(({ ok }) => ok).map(({ url }) => url),
    errors: Object.fromEntries(failures.map(({ url, error = 'failed' }) => [url, error])),
    synced,
    count,
    results,
    ...outcome,
  };
}

export function finishedEvent(report: SyncReport, { isBackground }: { isBackground: boolean }): NewEvent {
  const { count, ingested, errors, results, registered, failed, removed = [], synced, note } = report;
  const sum = (name: 'created' | 'updated' | 'missing') => results.reduce((total, { stats }) => total + stats[name], 0);
  const remotes = { remotes: count, ingested: ingested.length, failed_remotes: Object.keys(errors).map(shownAddress) };
  const entities = { created: sum('created'), updated: sum('updated'), missing: sum('missing') };
  return {
    type: 'sync.finished',
    data: {
      background: isBackground,
      ...remotes,
      ...entities,
      registered,
      failed,
      removed: removed.length,
      synced,
      note: note ?? null,
    },
  };
}

type RegistrationFields = Omit<SyncReport, 'seeded' | 'ingested' | 'errors' | 'count' | 'results'>;

function registrationFields(registration: PendingReport | undefined): RegistrationFields {
  if (!registration) return { synced: false, registered: 0, failed: 0, note: NO_GATEWAY };
  const { ranToEnd: synced, registered, failed, unregistrable, removed, stopped, note } = registration;
  const sentences = [note, stopped && `Registration stopped: ${stopped}`].filter(Boolean).join(' ');
  return {
    synced,
    registered,
    failed,
    ...(unregistrable !== undefined && { unregistrable }),
    ...(removed && { removed }),
    ...(stopped === undefined ? {} : { stopped: true }),
    ...(sentences ? { note: sentences } : {}),
  };
}

const NO_GATEWAY = 'No gateway is configured (MCP_GATEWAY_URL), so no server was registered.';
