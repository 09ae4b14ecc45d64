// The state of the approvals page.
import { computed, signal } from '@preact/signals';
import type { Trust } from '../../../src/catalog/contract.ts';
import type {
  ApprovalDecision,
  ApprovalListState,
  ApprovalPage,
  ApprovalReview,
} from '../../../src/policy/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';

export const STATES: readonly [ApprovalListState, label: string][] = [
  ['pending', 'Pending'],
  ['approved', 'Approved'],
  ['rejected', 'Rejected'],
];

/** The list that is shown; `show` follows the address. */
export const state = signal<ApprovalListState>('pending');
export const page = signal<ApprovalPage | undefined>(undefined);
export const failure = signal<HubFailure | undefined>(undefined);
/** The result of the last decision made here. */
export const done = signal('');
export const selectedId = signal<string | undefined>(undefined);
export const review = signal<ApprovalReview | undefined>(undefined);
export interface Decision {
  decision: ApprovalDecision['decision'];
  /** What the reviewer saw. */
  review: ApprovalReview;
}

/** The decision that waits for confirmation. The selection may change meanwhile, for example after a check of signatures. */
export const deciding = signal<Decision | undefined>(undefined);

const selected = computed(() => page.value?.items.find(({ id }) => id === selectedId.value));

const PAGE = 50;
const DONE: Record<ApprovalDecision['decision'], string> = {
  approve: 'Approved',
  reject: 'Rejected',
  revoke: 'Revoked',
};

let asked = 0;

/** How many entries are listed; grows on request. */
let wanted = PAGE;

export function showMore(): Promise<void> {
  wanted += PAGE;
  return refresh();
}

/** Keeps the selection if it still exists. */
export async function refresh(): Promise<void> {
  asked += 1;
  const own = asked;
  try {
    const found = await firstOf(wanted);
    if (own !== asked) return;
    page.value = found;
    failure.value = undefined;
    void select(selected.value?.id ?? found.items[0]?.id);
  } catch (error) {
    if (own === asked) failure.value = asFailure(error);
  }
}

async function firstOf(count: number): Promise<ApprovalPage> {
  const found = await hub.approvals(state.value, { limit: PAGE, offset: 0 });
  while (found.items.length < Math.min(count, found.total)) {
    const { items } = await hub.approvals(state.value, { limit: PAGE, offset: found.items.length });
    if (items.length === 0) break;
    found.items.push(...items);
  }
  return found;
}

/** The list in an address, so that reload, back and links work. */
export function stateIn({ searchParams }: URL): ApprovalListState {
  const named = searchParams.get('state');
  return STATES.find(([each]) => each === named)?.[0] ?? 'pending';
}

/** The same list as before keeps its selection. */
export function show(which: ApprovalListState): void {
  if (state.value !== which) {
    state.value = which;
    done.value = '';
    wanted = PAGE;
    page.value = undefined;
    deciding.value = undefined;
    void select(undefined);
  }
  void refresh();
}

/** Resolves when its review is there. */
export async function select(id: string | undefined): Promise<void> {
  selectedId.value = id;
  if (review.value?.id !== id) review.value = undefined;
  if (id !== undefined && review.value === undefined) await readReview(id);
}

async function readReview(id: string): Promise<void> {
  try {
    const found = await hub.approval(id);
    if (selectedId.value === id) review.value = found;
  } catch (error) {
    if (selectedId.value === id) failure.value = asFailure(error);
  }
}

/** The rules may now decide differently, so the entity may leave the list. */
export function showTrust(id: string, trust: Trust): void {
  if (review.value?.id === id) review.value = { ...review.value, trust };
  void refresh();
}

/** Moves the selection by `step`, within the list. */
export function move(step: number): void {
  const items = page.value?.items ?? [];
  const at = items.findIndex(({ id }) => id === selectedId.value);
  const next = items[Math.max(0, Math.min(items.length - 1, at + step))];
  if (next) void select(next.id);
}

/** Decides about the shown content only, so that the reviewer has seen it. @throws HubFailure */
export async function decide({ decision, review: shown }: Decision, reason = ''): Promise<void> {
  const { note } = await hub.decideApproval(shown.id, {
    decision,
    digest: shown.digest,
    ...(reason.trim() === '' ? {} : { reason }),
  });
  done.value = [`${DONE[decision]}: ${shown.id}`, note].filter(Boolean).join('. ');
  const items = page.value?.items ?? [];
  const at = items.findIndex(({ id }) => id === shown.id);
  const next = items[at + 1] ?? items[at - 1];
  if (page.value)
    page.value = { ...page.value, items: items.filter(({ id }) => id !== shown.id), total: page.value.total - 1 };
  void select(next?.id);
}
