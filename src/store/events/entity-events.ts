// Creates the events about entities for webhooks.
import type { Selectable } from 'kysely';
import type { PublishOutcome } from '../../catalog/store.ts';
import type { NewEvent } from '../../events/store.ts';
import type { RegistrationRecord } from '../../gateway/store.ts';
import { ALLOWED, type FlagColumns } from '../governance/admission.ts';
import type { EntityTable } from '../tables.ts';

type EntityRow = Selectable<EntityTable>;

interface SavedEntity {
  uid: string;
  outcome: PublishOutcome | undefined;
  flags: FlagColumns | undefined;
  /** The remote that published the entity. */
  remote?: string;
}

const LONGEST_ERROR = 1_000;

/** `before` is undefined for a new entity. */
export function savedEvents(
  { uid, outcome, flags = ALLOWED, remote }: SavedEntity,
  before: (FlagColumns & Pick<EntityRow, 'owner_url'>) | undefined,
): NewEvent[] {
  const about = { id: uid, remote: remote ?? before?.owner_url ?? null };
  const ofRules = flagEvents(before ?? ALLOWED, flags, about);
  if (outcome === 'created') return [{ type: 'entity.added', data: about }, ...ofRules];
  return outcome === 'changed' ? [{ type: 'entity.changed', data: about }, ...ofRules] : ofRules;
}

/** Events for an entity whose policy flags changed. */
export function flagEvents(
  before: FlagColumns,
  after: FlagColumns,
  about: { id: string; remote: string | null },
): NewEvent[] {
  if (after.needs_approval > before.needs_approval) return [{ type: 'approval.needed', data: about }];
  if (!isRefused(after) || isRefused(before)) return [];
  const where = { hidden: after.is_hidden === 1, held: after.is_held === 1 };
  return [{ type: 'entity.blocked', data: { ...about, by: 'policy', ...where } }];
}

function isRefused({ is_hidden, is_held, needs_approval }: FlagColumns): boolean {
  return needs_approval === 0 && (is_hidden === 1 || is_held === 1);
}

export function blockedEvent(id: string, row: Pick<EntityRow, 'blocked_reason' | 'owner_url'>): NewEvent {
  const data = { id, remote: row.owner_url, by: 'operator', reason: row.blocked_reason };
  return { type: 'entity.blocked', data };
}

export function missingEvents(uids: readonly string[], remote: string): NewEvent[] {
  return uids.map((id) => ({ type: 'entity.missing', data: { id, remote } }));
}

/** Entities that were missing and are listed again. */
export function returnedEvents(uids: readonly string[], remote: string): NewEvent[] {
  return uids.map((id) => ({ type: 'entity.added', data: { id, remote, returned: true } }));
}

export function failedEvent({ uid, error, tries, nextTryAt }: RegistrationRecord): NewEvent {
  const data = { id: uid, error: error?.slice(0, LONGEST_ERROR), tries, next_try_at: nextTryAt?.toISOString() ?? null };
  return { type: 'registration.failed', data };
}
