// Which pending servers are asked for, which of them are here, and which of those are selected.
import { batch, computed, effect, signal } from '@preact/signals';
import type { PendingPage } from '../../../../src/gateway/contract.ts';
import type { HubFailure } from '../../api/failure.ts';
import { hub } from '../../api/hub.ts';
import { asFailure } from '../../api/problem.ts';
import { count } from '../../parts/words.ts';
import { attempt, carryOut, catalogRevision, outcome } from '../operations-state.ts';

export const PAGE_SIZE = 50;
/** As many as the hub tells at once. */
const MOST_TOLD = 1000;
/** So that each is done within seconds, and the page can say how far it is. */
const REMOVED_AT_ONCE = 1000;
const MOST_KEPT_TOLD = 10;
const TYPING_PAUSE_MS = 150;

interface Query {
  words: string;
  errorOnly: boolean;
  /** Servers that can be registered, or those that never can. */
  registrable: boolean;
  offset: number;
}

export const query = signal<Query>({ words: '', errorOnly: false, registrable: true, offset: 0 });
export const page = signal<PendingPage | undefined>(undefined);
export const failure = signal<HubFailure | undefined>(undefined);
/** Always some of those on screen: nobody deletes what is not to be seen. */
export const selected = signal<ReadonlySet<string>>(new Set());

export const items = computed(() => page.value?.items ?? []);
export const isFiltered = computed(() => query.value.words.trim() !== '' || query.value.errorOnly);
/** How many servers can never be registered, whatever the filter. */
export const unregistrable = computed(() => page.value?.unregistrable ?? 0);
export const areAllSelected = computed(
  () => items.value.length > 0 && items.value.every(({ uid }) => selected.value.has(uid)),
);

/** Another filter begins with its first page; whatever changes, what was selected is selected no more. */
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

/** Asks the hub whenever the question changes, or what is pending may have; gives a way to stop. */
export function followPending(): () => void {
  const stop = effect(() => askAfterPause(query.value, catalogRevision.value));
  return () => {
    stop();
    selected.value = new Set();
  };
}

/** Gives a way to call it off. The revision only says that the answer may be another one now. */
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
  // After the last page was deleted, the one before it is shown.
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

/** The ids of all servers that match the filter, on every page. Registered ones cannot be deleted, and are left out. */
export async function allThatMatch(): Promise<string[]> {
  const found = new Set<string>();
  const isComplete = await attempt('pending', async () => {
    const asked = query.value;
    let registered = 0;
    for (let offset = 0, total = 1; offset < total; offset += MOST_TOLD) {
      const part = await hub.pending(parametersOf({ ...asked, offset }, MOST_TOLD));
      for (const { uid, gateway_registered_at } of part.items) {
        if (gateway_registered_at) registered += 1;
        else found.add(uid);
      }
      total = part.total;
    }
    if (found.size > 0 || registered === 0) return;
    const sentence = 'None of them can be deleted: they are registered in the gateway, and only their update failed.';
    outcome.value = { tone: 'warn', sentence };
  });
  return isComplete ? [...found] : [];
}

export function removeServers(uids: readonly string[]): Promise<boolean> {
  return carryOut('pending', 'Deleting servers', async (_report, rename) => {
    let removed = 0;
    let done = 0;
    const kept: string[] = [];
    try {
      while (done < uids.length) {
        if (done > 0) rename(`Deleting servers: ${done} of ${uids.length}`);
        const answer = await hub.removePending({ uids: uids.slice(done, done + REMOVED_AT_ONCE) });
        done += REMOVED_AT_ONCE;
        removed += answer.total_removed;
        for (const [uid, reason] of Object.entries(answer.skipped)) kept.push(`${uid}: ${reason}`);
      }
      selected.value = new Set();
    } finally {
      // Also when a later part failed: what is gone is gone.
      if (done > 0) tellRemoved(removed, kept, done < uids.length);
    }
  });
}

function tellRemoved(removed: number, kept: readonly string[], isUnfinished: boolean): void {
  const more = kept.length > MOST_KEPT_TOLD ? `; and ${kept.length - MOST_KEPT_TOLD} more` : '';
  const stays = kept.length > 0 ? ` Not deleted: ${kept.slice(0, MOST_KEPT_TOLD).join('; ')}${more}.` : '';
  outcome.value = {
    tone: kept.length > 0 || isUnfinished ? 'warn' : 'good',
    sentence: `${count(removed, 'server')} deleted${isUnfinished ? ' before that' : ''}.${stays}`,
  };
}
