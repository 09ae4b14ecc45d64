// Tracks the progress of an ingest, and builds its report.
import type { PublishOutcome } from '../../catalog/store.ts';
import { storableText } from '../../lib/json.ts';
import { shownAddress } from '../../lib/secrets/secret-address.ts';
import type { Clock } from '../../lib/world.ts';
import { type IngestResult, type IngestRun, noChanges } from '../contract.ts';
import type { Conflict, Rejection } from '../store.ts';

type Counts = Pick<
  IngestRun,
  'created' | 'updated' | 'unchanged' | 'unchecked' | 'duplicates' | 'conflicts' | 'missing' | 'failed'
>;

const COUNTED_AS: Record<PublishOutcome, keyof Counts> = {
  created: 'created',
  changed: 'updated',
  moved: 'updated',
  unchanged: 'unchanged',
  'not owned': 'conflicts',
};
/** From weak to strong. */
const STRENGTH: readonly PublishOutcome[] = ['unchanged', 'moved', 'changed', 'created'];
const MOST_ERRORS_SHOWN = 20;
const MOST_IDS_NAMED = 20;
export const MOST_REJECTIONS_KEPT = 10_000;
/** Limit of the database index on addresses; longer ones were not fetched either. */
const LONGEST_URL_BYTES = 1000;
const LONGEST_ERROR = 1000;

export class IngestProgress {
  readonly url: string;
  /** Whether the index lists too little to be accepted. */
  isShrunk = false;
  private readonly rejected: Rejection[] = [];
  private readonly now: Clock;
  private readonly startedAt: Date;
  private readonly startedMs = performance.now();
  private readonly counts: Counts = {
    created: 0,
    updated: 0,
    unchanged: 0,
    unchecked: 0,
    duplicates: 0,
    conflicts: 0,
    missing: 0,
    failed: 0,
  };
  private readonly changes = noChanges();
  private readonly notes: string[] = [];
  private total = 0;
  private handled = 0;
  private error: string | null = null;
  private finished: { at: Date; elapsedSec: number } | undefined;

  constructor(url: string, now: Clock) {
    this.url = url;
    this.now = now;
    this.startedAt = now();
  }

  get rejections(): readonly Rejection[] {
    return this.rejected;
  }

  expect(entries: number): void {
    this.total += entries;
  }

  done(entries: number): void {
    this.handled += entries;
  }

  add(more: Partial<Counts>): void {
    for (const [name, value] of Object.entries(more) as [keyof Counts, number][]) this.counts[name] += value;
  }

  /**
   * Counts a manifest that was passed to the catalog. An entity with several manifests is counted once, by the strongest of
   * their outcomes; `earlier` are those that are counted already. Conflicts are counted by manifest.
   */
  saved(uid: string, outcome: PublishOutcome, earlier: readonly PublishOutcome[]): void {
    const counted = STRENGTH.findLast((each) => outcome !== 'not owned' && earlier.includes(each));
    if (counted !== undefined && STRENGTH.indexOf(outcome) <= STRENGTH.indexOf(counted)) return;
    if (counted !== undefined) this.counts[COUNTED_AS[counted]] -= 1;
    if (outcome === 'changed' || outcome === 'created') this.name(outcome, [uid]);
    this.counts[COUNTED_AS[outcome]] += 1;
  }

  /** Counts manifests that are no longer listed, and names the entities that no remote lists now. */
  missing(manifests: number, uids: readonly string[]): void {
    this.counts.missing += manifests;
    this.name('missing', uids);
  }

  reject(url: string, error: string): void {
    this.counts.failed += 1;
    this.keep(url, error);
  }

  /** Adds a sentence to earlier notes. */
  note(sentence: string): void {
    this.notes.push(sentence);
  }

  /** Sets the number of manifests that a later one in the same index replaces. */
  duplicates(total: number): void {
    this.counts.duplicates = total;
    if (total > 0) this.note(skippedNote(total));
  }

  /** Adds manifests of other remotes' entities to the rejections. Returns the number that `saved` did not count. */
  conflicts({ items, total }: { items: readonly Conflict[]; total: number }): number {
    const counted = this.counts.conflicts;
    this.counts.conflicts = total;
    const [first] = items;
    if (first) this.note(conflictNote(total, first));
    for (const conflict of items) this.keep(conflict.url, belongsToAnother(conflict));
    return total - counted;
  }

  /** Records that the index could not be read to its end. */
  fail(error: string): void {
    this.error = error;
  }

  finish(): { error: string | null; note: string | null; isShrunk: boolean } {
    this.finished = { at: this.now(), elapsedSec: this.elapsedSec };
    return { error: this.error, note: this.shownNote.note ?? null, isShrunk: this.isShrunk };
  }

  run(): IngestRun {
    const { url, startedAt, finished, error, total, handled, elapsedSec } = this;
    const perSecond = elapsedSec > 0 ? handled / elapsedSec : 0;
    return {
      url,
      started_at: startedAt.toISOString(),
      finished_at: finished?.at.toISOString() ?? null,
      ok: finished ? error === null : null,
      error,
      ...this.shownNote,
      total,
      done: handled,
      ...this.shownCounts,
      per_second: rounded(perSecond),
      seconds_left: finished || perSecond === 0 ? null : rounded((total - handled) / perSecond),
      // Named at the end, so that progress events stay small.
      changes: finished ? this.changes : noChanges(),
      catalog_size: null,
    };
  }

  result(): IngestResult {
    const { url, error, rejections } = this;
    const shown = rejections.slice(0, MOST_ERRORS_SHOWN);
    return {
      url,
      ok: error === null,
      stats: {
        ...this.shownCounts,
        elapsed_secs: rounded(this.elapsedSec),
        errors: shown.map((rejection) => ({ url: shownAddress(rejection.url), error: rejection.error })),
        changed: this.changes.changed,
        ...this.shownNote,
        shrunk: this.isShrunk,
      },
      ...(error === null ? {} : { error }),
    };
  }

  private keep(url: string, reason: string): void {
    if (this.rejected.length >= MOST_REJECTIONS_KEPT) return;
    const shown = { url: shortened(url, LONGEST_URL_BYTES), error: shortened(reason, LONGEST_ERROR) };
    this.rejected.push({ ...shown, at: this.now().toISOString() });
  }

  private name(kind: keyof IngestRun['changes'], uids: readonly string[]): void {
    const named = this.changes[kind];
    named.push(...uids.slice(0, MOST_IDS_NAMED - named.length));
  }

  private get elapsedSec(): number {
    return this.finished?.elapsedSec ?? (performance.now() - this.startedMs) / 1000;
  }

  private get shownCounts() {
    const { total, counts } = this;
    return { manifests_seen: total, entities_upserted: counts.created + counts.updated, ...counts };
  }

  private get shownNote(): { note?: string } {
    return this.notes.length > 0 ? { note: this.notes.join(' ') } : {};
  }
}

function skippedNote(count: number): string {
  const subject = count === 1 ? '1 manifest was' : `${count} manifests were`;
  return `${subject} skipped, because a later entry of the index describes the same entity.`;
}

/** States the rule instead of advice: notes are also read after priorities change, and an unstored index has no priority. */
const OWNER_RULE = 'among the remotes of this hub that list an entity, the one with the highest priority owns it';

function conflictNote(count: number, { uid, owner }: Conflict): string {
  const subject = count === 1 ? '1 manifest was' : `${count} manifests were`;
  const entities = count === 1 ? 'its entity' : 'their entities';
  return `${subject} not used, because ${entities} belonged to another remote (${uid} to ${shownAddress(owner)}); ${OWNER_RULE}.`;
}

function belongsToAnother({ uid, owner }: Conflict): string {
  return `describes ${uid}, which belonged to ${shownAddress(owner)}; ${OWNER_RULE}`;
}

/** Cuts by bytes, because database indexes limit bytes. */
function shortened(text: string, mostBytes: number): string {
  const storable = storableText(text);
  if (Buffer.byteLength(storable) <= mostBytes) return storable;
  return storableText(
    Buffer.from(storable)
      .subarray(0, mostBytes)
      .toString('utf8')
      .replace(/\ufffd+$/, ''),
  );
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
