// The state of the pending servers: the query, the shown page, and the selection.
import { batch, computed, effect, signal } from '@preact/signals';
import type { PendingPage } from '../../../../src/gateway/contract.ts';
import type { HubFailure } from '../../api/failure.ts';
import { hub } from '../../api/hub.ts';
import { asFailure } from '../../api/problem.ts';
import { count } from '../../parts/words.ts';
import { attempt, carryOut, catalogRevision, outcome } from '../operations-state.ts';

export const PAGE_SIZE = 50;
/** The hub's page limit. */
const LARGEST_PAGE = 1000;
/** Small enough that each request takes seconds, and progress can be shown. */
const REMOVED_AT_ONCE = 1000;
const MOST_KEPT_NAMED = 10;
const TYPING_PAUSE_MS = 150;

interface Query {
  words: string;
  errorOnly: boolean;
  /** Whether to list servers that can be registered, or those that never can. */
  registrable: boolean;
  offset: number;
}

export const query = signal<Query>({ words: '', errorOnly: false, registrable: true, offset: 0 });
export const page = signal<PendingPage | undefined>(undefined);
export const failure = signal<HubFailure | undefined>(undefined);
/** Always a subset of the visible servers, so that nobody removes what is not visible. */
export const selected = signal<ReadonlySet<string>>(new Set());

export const items = computed(() => page.value?.items ?? []);
export const isFiltered = computed(() => query.value.words.trim() !== '' || query.value.errorOnly);
/** The number of servers that can never be registered, regardless of the filter. */
export const unregistrable = computed(() => page.value?.unregistrable ?? 0);
export const areAllSelected = computed(
  () => items.value.length > 0 && items.value.every(({ uid }) => selected.value.has(uid)),
);

/** A changed filter returns to the first page; any change clears the selection. */
export function ask(changes: Partial<Query>): void {
  batch(() => {
    query.value = { ...query.value, offset: 0, ...changes };
    selected.value = new Set();
  });
}

export function askAgain(): void {
  catalogRevision.value += 1;
}

export function select(uids: readonly string[], isOn: boolean): void {
  const next = new Set(selected.value);
  for (const uid of uids) isOn ? next.add(uid) : next.delete(uid);
  selected.value = next;
}

/** Reloads when the query, or the set of pending servers, may have changed; returns a function that stops it. */
export function followPending(): () => void {
  const stop = effect(() => askAfterPause(query.value, catalogRevision.value));
  return () => {
    stop();
    selected.value = new Set();
  };
}

/** Returns a function that cancels it. The revision only triggers another request. */
function askAfterPause(asked: Query, _revision: number): () => void {
  const { offset } = asked;
  let isLast = true;
  const timer = setTimeout(() => {
    hub.pending(parametersOf(asked, PAGE_SIZE)).then(
      (found) => isLast && show(found, offset),
      (error) => {
        if (isLast) failure.value = asFailure(error);
      },
    );
  }, TYPING_PAUSE_MS);
  return () => {
    isLast = false;
    clearTimeout(timer);
  };
}

function parametersOf({ words, errorOnly, registrable, offset }: Query, limit: number): URLSearchParams {
  const parameters = new URLSearchParams({
    limit: String(limit),
    offset: String(offset),
    registrable: String(registrable),
  });
  if (words.trim() !== '') parameters.set('q', words.trim());
  if (errorOnly) parameters.set('error_only', 'true');
  return parameters;
}

function show(found: PendingPage, offset: number): void {
  // After the last page was removed, shows the one before it.
  if (found.items.length === 0 && found.total > 0 && offset > 0) {
    ask({ offset: lastOffset(found.total) });
    return;
  }
  const here = new Set(found.items.map(({ uid }) => uid));
  batch(() => {
    page.value = found;
    failure.value = undefined;
    selected.value = new Set([...selected.value].filter((uid) => here.has(uid)));
  });
}

function lastOffset(total: number): number {
  return Math.max(0, Math.ceil(total / PAGE_SIZE) - 1) * PAGE_SIZE;
}

/** Ids of all servers that match the filter, on every page. Omits registered ones, which cannot be removed. */
export async function allThatMatch(): Promise<string[]> {
  const found = new Set<string>();
  const isComplete = await attempt('pending', async () => {
    const asked = query.value;
    let registered = 0;
    for (let offset = 0, total = 1; offset < total; offset += LARGEST_PAGE) {
      const part = await hub.pending(parametersOf({ ...asked, offset }, LARGEST_PAGE));
      for (const { uid, gateway_registered_at } of part.items) {
        if (gateway_registered_at) registered += 1;
        else found.add(uid);
      }
      total = part.total;
    }
    if (found.size > 0 || registered === 0) return;
    const sentence = 'None of them can be removed: they are registered with the gateway, and only their update failed.';
    outcome.value = { tone: 'warn', sentence };
  });
  return isComplete ? [...found] : [];
}

export function removeServers(uids: readonly string[]): Promise<boolean> {
  return carryOut('pending', 'Removing servers', async (_report, rename) => {
    let removed = 0;
    let done = 0;
    const kept: string[] = [];
    try {
      while (done < uids.length) {
        if (done > 0) rename(`Removing servers: ${done} of ${uids.length}`);
        const answer = await hub.removePending({ uids: uids.slice(done, done + REMOVED_AT_ONCE) });
        done += REMOVED_AT_ONCE;
        removed += answer.total_removed;
        for (const [uid, reason] of Object.entries(answer.skipped)) kept.push(`${uid}: ${reason}`);
      }
      selected.value = new Set();
    } finally {
      // Also reported if a later part failed, because the earlier ones are removed.
      if (done > 0) reportRemoved(removed, kept, done < uids.length);
    }
  });
}

function reportRemoved(removed: number, kept: readonly string[], isUnfinished: boolean): void {
  const more = kept.length > MOST_KEPT_NAMED ? `; and ${kept.length - MOST_KEPT_NAMED} more` : '';
  const stays = kept.length > 0 ? ` Not removed: ${kept.slice(0, MOST_KEPT_NAMED).join('; ')}${more}.` : '';
  outcome.value = {
    tone: kept.length > 0 || isUnfinished ? 'warn' : 'good',
    sentence: `${count(removed, 'server')} removed${isUnfinished ? ' before the failure' : ''}.${stays}`,
  };
}
