// Which pending servers are asked for, which of them are here, and which of those are selected.
import { batch, computed, effect, signal } from '@preact/signals';
import type { PendingPage } from '../../../src/gateway/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { count } from '../parts/words.ts';
import { attempt, outcome, pendingRevision } from './operations-state.ts';

export const PAGE_SIZE = 50;
const TYPING_PAUSE_MS = 150;

interface Query {
  words: string;
  errorOnly: boolean;
  offset: number;
}

export const query = signal<Query>({ words: '', errorOnly: false, offset: 0 });
export const page = signal<PendingPage | undefined>(undefined);
export const failure = signal<HubFailure | undefined>(undefined);
/** Always some of those on screen: nobody deletes what is not to be seen. */
export const selected = signal<ReadonlySet<string>>(new Set());

export const items = computed(() => page.value?.items ?? []);
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
  pendingRevision.value += 1;
}

export function select(uids: readonly string[], isOn: boolean): void {
  const next = new Set(selected.value);
  for (const uid of uids) isOn ? next.add(uid) : next.delete(uid);
  selected.value = next;
}

/** Asks the hub whenever the question changes, or what is pending may have; gives a way to stop. */
export function followPending(): () => void {
  const stop = effect(() => askAfterPause(query.value, pendingRevision.value));
  return () => {
    stop();
    selected.value = new Set();
  };
}

/** Gives a way to call it off. The revision only says that the answer may be another one now. */
function askAfterPause({ words, errorOnly, offset }: Query, _revision: number): () => void {
  const parameters = new URLSearchParams({ limit: String(PAGE_SIZE), offset: String(offset) });
  if (words.trim() !== '') parameters.set('q', words.trim());
  if (errorOnly) parameters.set('error_only', 'true');
  let isLast = true;
  const timer = setTimeout(() => {
    hub.pending(parameters).then(
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

function show(found: PendingPage, offset: number): void {
  // Whoever deletes all of the last page goes on with the one before.
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

export function removeServers(uids: readonly string[]): Promise<void> {
  return attempt('pending', async () => {
    const { total_removed, skipped } = await hub.removePending({ uids: [...uids] });
    const kept = Object.entries(skipped).map(([uid, reason]) => `${uid}: ${reason}`);
    const stays = kept.length > 0 ? ` These stay: ${kept.join('; ')}.` : '';
    outcome.value = {
      tone: kept.length > 0 ? 'warn' : 'good',
      sentence: `${count(total_removed, 'server')} removed.${stays}`,
    };
    selected.value = new Set();
    pendingRevision.value += 1;
  });
}
