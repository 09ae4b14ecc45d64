// Describes the details and results of changes for the audit log. Never includes secrets.
import type { ChangeOutcome } from '../access/audit.ts';
import type { NewToken } from '../access/contract.ts';
import type { Delivery, NewWebhook } from '../events/contract.ts';
import type { BulkRemoval, Removal } from '../gateway/contract.ts';
import { isNotForGateway } from '../gateway/state-words.ts';
import type { InstallReport, InstallRequest } from '../install/contract.ts';
import { isAddress, shownAddress } from '../lib/secrets/secret-address.ts';
import type { ApprovalDecision, PolicyChange } from '../policy/contract.ts';
import type { IngestReport, RemoteRemoved, RemoteSettings, RemovalOptions, SyncReport } from '../remotes/contract.ts';

/** Enough to identify a change; the log is not a second catalog. */
const MOST_NAMED = 20;

/** The subject of a change of a remote. An address that only its parser recognizes is cut to what follows the login. */
export function subjectOfRemote(reference: string): string {
  const shown = shownAddress(reference.trim());
  const { username, password } = (isAddress(shown) && URL.parse(shown)) || { username: shown, password: '' };
  // Names of remotes contain no `@`.
  return username || password ? shown.replace(/^.*@/s, '***@') : shown;
}

/** A token may be given in place of its name. Names are not longer than 64 characters; tokens of an issuer are. */
export function subjectOfToken(name: string): string {
  return name.length > 64 || /hub_[\w-]{43}/.test(name) ? '***' : name;
}

export function listed(names: readonly string[]): string {
  return names.length === 0 ? '0' : `${names.length}: ${named(names)}`;
}

function named(names: readonly string[]): string {
  const rest = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

export const asked = {
  install: ({ manifest, force, frozen, clients }: InstallRequest) =>
    words({ 'manifest in the request': Boolean(manifest), force, frozen, clients: clients?.join(', ') }),
  reason: (reason: string | undefined) => words({ reason }),
  decision: ({ decision, reason, digest }: ApprovalDecision) => words({ [decision]: true, digest, reason }),
  token: ({ role, scope, expires_in_days: days }: NewToken) =>
    words({ role, scope: scope.join(', '), 'valid for days': days }),
  remote: ({ name, priority, enabled, register }: RemoteSettings = {}) => words({ name, priority, enabled, register }),
  webhook: ({ url, events }: NewWebhook) => words({ to: URL.parse(url)?.origin, events: events.join(', ') }),
  status: (status: string, reason: string | undefined) => words({ status, reason }),
  removal: ({ purge }: RemovalOptions = {}) => words({ purge }),
};

export const ended = {
  install: ({ ok, results }: InstallReport): ChangeOutcome => {
    const failed = results.filter((step) => !step.ok && !isNotForGateway(step)).map(({ step }) => step);
    return {
      outcome: ok && failed.length === 0 ? 'ok' : 'failed',
      result: words({ 'failed steps': failed.join(', ') }),
    };
  },
  removal: (removal: Removal): ChangeOutcome =>
    removal.removed ? { outcome: 'ok' } : { outcome: 'failed', result: removal.reason },
  bulkRemoval: ({ removed, skipped }: BulkRemoval): ChangeOutcome => {
    const left = Object.keys(skipped).length;
    return {
      outcome: removed.length === 0 && left > 0 ? 'failed' : 'ok',
      result: words({ removed: listed(removed), 'not removed': left }),
    };
  },
  remoteRemoval: ({ removed, purged, missing, passed_on }: RemoteRemoved): ChangeOutcome => ({
    outcome: removed ? 'ok' : 'failed',
    result: removed ? words({ removed: purged, missing, 'passed on': passed_on }) : 'not found',
  }),
  ingest: ({ results }: IngestReport): ChangeOutcome => ofRemotes(results),
  sync: ({ results, registered, failed, unregistrable = 0, removed }: SyncReport): ChangeOutcome => {
    const { outcome, result } = ofRemotes(results);
    const gateway = {
      registered,
      'not registered': failed - unregistrable,
      'removed from the gateway': removed && listed(removed),
    };
    return { outcome, result: `${result}; ${words(gateway)}` };
  },
  webhookTest: ({ state, error }: Delivery): ChangeOutcome =>
    state === 'delivered' ? { outcome: 'ok' } : { outcome: 'failed', result: error ?? undefined },
  policy: ({ affected, entities, digest }: PolicyChange): ChangeOutcome => ({
    outcome: 'ok',
    result: `${affected} of ${entities} entities affected; ${digest}`,
  }),
};

function ofRemotes(results: IngestReport['results']): ChangeOutcome {
  const failed = results.filter(({ ok }) => !ok).map(({ url }) => shownAddress(url));
  const sum = (of: 'created' | 'updated' | 'missing') => results.reduce((total, { stats }) => total + stats[of], 0);
  const counts = words({ new: sum('created'), changed: sum('updated'), missing: sum('missing') });
  if (failed.length === 0) return { outcome: 'ok', result: counts };
  return {
    outcome: 'failed',
    result: `${failed.length} of ${results.length} remotes: ${named(failed)}; ${counts}`,
  };
}

/** `purge; reason: …`: lists what is true or has a value. */
function words(values: Record<string, string | number | boolean | null | undefined>): string | undefined {
  const parts = Object.entries(values).flatMap(([name, value]) => {
    if (value === undefined || value === null || value === '') return [];
    if (typeof value === 'boolean' && name !== 'enabled') return value ? [name] : [];
    return [`${name}: ${value}`];
  });
  return parts.join('; ') || undefined;
}
