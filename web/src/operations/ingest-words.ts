// Describes the result of a sync or an ingest for the operations page.
import type { IngestReport, IngestRun, SyncReport } from '../../../src/remotes/contract.ts';
import { count } from '../parts/words.ts';

export interface OutcomeWords {
  tone: 'good' | 'warn';
  sentence: string;
  notes?: readonly OutcomeNote[];
  /** Ids of published versions whose content changed; the hub reports only the first ones of each remote. */
  changed?: readonly string[];
}

export interface OutcomeNote {
  /** Name or address of the remote; absent if the note is about the whole sync. */
  remote?: string;
  text: string;
}

type Result = IngestReport['results'][number];
type Counts = Pick<
  IngestRun,
  'created' | 'updated' | 'unchanged' | 'unchecked' | 'duplicates' | 'conflicts' | 'failed' | 'missing'
>;
type NameOf = (url: string) => string;

export function syncWords(report: SyncReport, nameOf: NameOf): OutcomeWords {
  const {
    results,
    registered,
    failed,
    unregistrable = 0,
    removed = [],
    note,
    stopped = false,
    count: remotes,
  } = report;
  const read = results.filter(({ ok }) => ok);
  const total = totalOf(results);
  const sentences = [
    results.length === 0
      ? nothingToRead(remotes)
      : `${read.length} of ${count(results.length, 'remote')} read: ${countWords(total)}.`,
    registrationWords(registered, failed - unregistrable),
    removed.length > 0 ? `${removed.length} removed from the gateway.` : '',
  ];
  const isWarning = read.length < results.length || failed > unregistrable || stopped || results.some(isNoteworthy);
  return {
    tone: isWarning ? 'warn' : 'good',
    sentence: sentences.filter(Boolean).join(' '),
    notes: [...notesOf(results, nameOf), ...(note ? [{ text: note }] : [])],
    changed: results.flatMap(({ stats }) => stats.changed),
  };
}

export function ingestWords(result: Result, nameOf: NameOf): OutcomeWords {
  const { url, ok, stats, error } = result;
  if (!ok) return { tone: 'warn', sentence: `${nameOf(url)} could not be read: ${error ?? 'no reason given'}` };
  return {
    tone: isNoteworthy(result) || stats.failed > 0 ? 'warn' : 'good',
    sentence: `${nameOf(url)} read: ${countWords(stats)}.`,
    notes: notesOf([result], nameOf),
    changed: stats.changed,
  };
}

/** For example `2 new, 0 changed, 12 unchanged, 1 missing`. */
export function countWords(counts: Counts): string {
  const { created, updated, unchanged, unchecked, duplicates, conflicts, failed, missing } = counts;
  const parts = [`${created} new`, `${updated} changed`];
  if (unchanged > 0) parts.push(`${unchanged} unchanged`);
  if (unchecked > 0) parts.push(`${unchecked} not checked`);
  if (failed > 0) parts.push(`${failed} refused`);
  if (missing > 0) parts.push(`${missing} missing`);
  if (duplicates > 0) parts.push(count(duplicates, 'duplicate'));
  if (conflicts > 0) parts.push(count(conflicts, 'conflict'));
  return parts.join(', ');
}

function totalOf(results: readonly Result[]): Counts {
  const sum = (name: keyof Counts) => results.reduce((total, { stats }) => total + stats[name], 0);
  return {
    created: sum('created'),
    updated: sum('updated'),
    unchanged: sum('unchanged'),
    unchecked: sum('unchecked'),
    duplicates: sum('duplicates'),
    conflicts: sum('conflicts'),
    failed: sum('failed'),
    missing: sum('missing'),
  };
}

function nothingToRead(remotes: number): string {
  return `Nothing to read: ${remotes === 0 ? 'no remote has been added' : 'every remote is disabled'}.`;
}

function registrationWords(registered: number, failed: number): string {
  if (registered + failed === 0) return '';
  const refused = failed > 0 ? `, ${failed} could not be registered` : '';
  return `${count(registered, 'server')} registered${refused}.`;
}

/** Operators should check all notes, except one that only reports unchecked manifests. */
function isNoteworthy({ stats: { note, unchecked, conflicts } }: Result): boolean {
  return conflicts > 0 || (note !== undefined && unchecked === 0);
}

function notesOf(results: readonly Result[], nameOf: NameOf): OutcomeNote[] {
  return results.flatMap(({ url, ok, error, stats: { note } }) =>
    [ok ? undefined : (error ?? 'It could not be read.'), note].flatMap((text) =>
      text ? [{ remote: nameOf(url), text }] : [],
    ),
  );
}
