// Tracks the progress of an ingest, and builds its report.
import type { PublishOutcome } from '../../catalog/store.ts';
import { storableText } from '../../lib/json.ts';
import { shownAddress } from '../../lib/secrets/secret-address.ts';
import type { Clock } from '../../lib/world.ts';
import { type IngestResult, type IngestRun, noChanges } from '../contract.ts';
import type { Conflict, Rejection } from '../store.ts';

type Counts = Pick<
  IngestRun,
  'created' | 'updated' | 'unchanged' | 'unchecked' | 'duplicates' | 'conflicts' | 'missing'
>;

export interface Progress {
  readonly url: string;
  expect(entries: number): void;
  done(entries: number): void;
  add(counts: Partial<Counts>): void;
  /**
   * Counts a manifest that was passed to the catalog. An entity with several manifests is counted once, by the strongest of
   * their outcomes; `earlier` are those that are counted already. Conflicts are counted by manifest.
   */
  saved(uid: string, outcome: PublishOutcome, earlier: readonly PublishOutcome[]): void;
  /** Counts manifests that are no longer listed, and names the entities that no remote lists now. */
  missing(manifests: number, uids: readonly string[]): void;
  reject(url: string, error: string): void;
  /** Adds a sentence to earlier notes. */
  note(sentence: string): void;
  /** Sets the number of manifests that a later one in the same index replaces. */
  duplicates(total: number): void;
  /** Adds manifests of other remotes' entities to the rejections. Returns the number that `saved` did not count. */
  conflicts(conflicts: { items: readonly Conflict[]; total: number }): number;
  /** Records that the index could not be read to its end. */
  fail(error: string): void;
  /** Records that the index lists too little to be accepted. */
  shrunk(): void;
  finish(): { error: string | null; note: string | null; isShrunk: boolean };
  run(): IngestRun;
  result(): IngestResult;
  rejections(): readonly Rejection[];
}

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

export function createProgress(url: string, now: Clock): Progress {
  const startedAt = now();
  const startedMs = performance.now();
  const counts: Counts = {
    created: 0,
    updated: 0,
    unchanged: 0,
    unchecked: 0,
    duplicates: 0,
    conflicts: 0,
    missing: 0,
  };
  const changes = noChanges();
  const rejections: Rejection[] = [];
  let [total, done, failed] = [0, 0, 0];
  let note: string | undefined;
  let error: string | null = null;
  let isShrunk = false;
  let finished: { at: Date; elapsedSec: number } | undefined;

  function keepRejection(manifestUrl: string, reason: string): void {
    if (rejections.length >= MOST_REJECTIONS_KEPT) return;
    const shown = { url: shortened(manifestUrl, LONGEST_URL_BYTES), error: shortened(reason, LONGEST_ERROR) };
    rejections.push({ ...shown, at: now().toISOString() });
  }

  function name(kind: keyof typeof changes, uids: readonly string[]): void {
    changes[kind].push(...uids.slice(0, MOST_IDS_NAMED - changes[kind].length));
  }

  function addNote(sentence: string): void {
    note = note ? `${note} ${sentence}` : sentence;
  }

  const elapsedSec = () => finished?.elapsedSec ?? (performance.now() - startedMs) / 1000;
  const shownCounts = () => ({
    manifests_seen: total,
    entities_upserted: counts.created + counts.updated,
    ...counts,
    failed,
  });

  return {
    url,
    expect: (entries) => {
      total += entries;
    },
    done: (entries) => {
      done += entries;
    },
    add: (more) => {
      for (const [name, value] of Object.entries(more) as [keyof Counts, number][]) counts[name] += value;
    },
    saved: (uid, outcome, earlier) => {
      const counted = STRENGTH.findLast((each) => outcome !== 'not owned' && earlier.includes(each));
      if (counted !== undefined && STRENGTH.indexOf(outcome) <= STRENGTH.indexOf(counted)) return;
      if (counted !== undefined) counts[COUNTED_AS[counted]] -= 1;
      if (outcome === 'changed' || outcome === 'created') name(outcome, [uid]);
      counts[COUNTED_AS[outcome]] += 1;
    },
    missing: (manifests, uids) => {
      counts.missing += manifests;
      name('missing', uids);
    },
    reject: (manifestUrl, reason) => {
      failed += 1;
      keepRejection(manifestUrl, reason);
    },
    note: addNote,
    duplicates: (skipped) => {
      counts.duplicates = skipped;
      if (skipped > 0) addNote(skippedNote(skipped));
    },
    conflicts: ({ items, total: conflicting }) => {
      const counted = counts.conflicts;
      counts.conflicts = conflicting;
      const [first] = items;
      if (first) addNote(conflictNote(conflicting, first));
      for (const conflict of items) keepRejection(conflict.url, belongsToAnother(conflict));
      return conflicting - counted;
    },
    fail: (reason) => {
      error = reason;
    },
    finish: () => {
      finished = { at: now(), elapsedSec: elapsedSec() };
      return { error, note: note ?? null, isShrunk };
    },
    shrunk: () => {
      isShrunk = true;
    },
    run: () => {
      const perSecond = elapsedSec() > 0 ? done / elapsedSec() : 0;
      return {
        url,
        started_at: startedAt.toISOString(),
        finished_at: finished?.at.toISOString() ?? null,
        ok: finished ? error === null : null,
        error,
        ...(note ? { note } : {}),
        total,
        done,
        ...shownCounts(),
        per_second: rounded(perSecond),
        seconds_left: finished || perSecond === 0 ? null : rounded((total - done) / perSecond),
        // Named at the end, so that progress events stay small.
        changes: finished ? changes : noChanges(),
        catalog_size: null,
      };
    },
    result: () => ({
      url,
      ok: error === null,
      stats: {
        ...shownCounts(),
        elapsed_secs: rounded(elapsedSec()),
        errors: rejections
          .slice(0, MOST_ERRORS_SHOWN)
          .map((rejection) => ({ url: shownAddress(rejection.url), error: rejection.error })),
        changed: changes.changed,
        ...(note ? { note } : {}),
        shrunk: isShrunk,
      },
      ...(error === null ? {} : { error }),
    }),
    rejections: () => rejections,
  };
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
