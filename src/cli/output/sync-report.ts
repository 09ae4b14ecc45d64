// What an ingest or a sync did, in words.
import type { IngestReport, SyncProgress, SyncReport } from '../../remotes/contract.ts';
import type { RemoteNames } from '../remote-names.ts';
import type { Output } from './output.ts';
import { oneLine, plural } from './text.ts';

export function progressLine({ running, registering, registering_total }: SyncProgress, names: RemoteNames): string {
  const ingests = running.map(({ url, done, total, per_second, seconds_left, failed }) => {
    const left = seconds_left === null ? '' : `, ${Math.ceil(seconds_left)} s left`;
    const refused = failed > 0 ? `, ${failed} refused` : '';
    return `${names.get(url) ?? url}: ${done} of ${total}, ${Math.round(per_second)} a second${left}${refused}`;
  });
  const registration =
    registering === null
      ? []
      : [`registering: ${registering} of ${plural(registering_total ?? registering, 'server')}`];
  return [...ingests, ...registration].join(' · ') || 'starting';
}

export function ingestForPeople({ results }: IngestReport, { style }: Output, names: RemoteNames): string {
  if (results.length === 0) return "No remotes. 'hub remotes add <url>' adds one.\n";
  return results
    .map(({ url, ok, error, stats }) => {
      const mark = ok ? style.good('ok') : style.bad('failed');
      const counts = `${countsLine(stats)}; ${stats.elapsed_secs.toFixed(1)} s`;
      const refused = stats.errors.map((each) => `    ${oneLine(`${each.url}: ${each.error}`)}\n`).join('');
      const failure = error ? `    ${oneLine(error)}\n` : '';
      const remote = oneLine(names.get(url) ?? url);
      const more = stats.failed > stats.errors.length ? `    ${rejectionsAdvice(url)}\n` : '';
      return `${mark}  ${remote}\n    ${counts}\n${failure}${remarks(stats)}${refused}${more}`;
    })
    .join('');
}

type Stats = IngestReport['results'][number]['stats'];

function countsLine(stats: Stats): string {
  const { created, updated, unchanged, unchecked, duplicates, conflicts, failed, missing } = stats;
  const known = unchecked > 0 ? `${unchecked} not checked` : `${unchanged} unchanged`;
  const skipped = duplicates > 0 ? `, ${plural(duplicates, 'duplicate')}` : '';
  const others = conflicts > 0 ? `, ${plural(conflicts, 'conflict')}` : '';
  return `${created} new, ${updated} changed, ${known}, ${failed} refused${skipped}${others}, ${missing} missing`;
}

/** Notes, and published versions whose content has changed. */
function remarks({ note, changed = [], updated }: Stats): string {
  const more = updated > changed.length && changed.length > 0 ? ', …' : '';
  const list = changed.length > 0 ? [`content changed: ${changed.join(', ')}${more}`] : [];
  return [...(note ? [note] : []), ...list].map((text) => `    ${oneLine(text)}\n`).join('');
}

/** With the address, because a name may contain spaces. */
function rejectionsAdvice(url: string): string {
  return `'hub remotes rejections ${oneLine(url)}' says why each was refused.`;
}

function registrationForPeople({ registered, failed, unregistrable = 0 }: SyncReport): string {
  const retried = failed - unregistrable;
  const why = retried > 0 ? " ('hub pending list' shows why)" : '';
  return `${plural(registered, 'server')} registered, ${retried} failed${why}.\n${neverRegistered(unregistrable)}`;
}

export function neverRegistered(count: number): string {
  if (count === 0) return '';
  return `${plural(count, 'server')} can never be registered; 'hub pending list --all' shows why.\n`;
}

const MOST_ITEMS = 10;

export function syncForPeople(report: SyncReport, { style }: Output, names: RemoteNames): string {
  const counts = new Map(report.results.map(({ url, stats }) => [url, stats]));
  const read = report.ingested.map((url) => {
    const stats = counts.get(url);
    const remote = oneLine(names.get(url) ?? url);
    const why = stats && stats.failed > 0 ? `    ${rejectionsAdvice(url)}\n` : '';
    const about = stats ? `    ${countsLine(stats)}\n${remarks(stats)}` : '';
    return `${style.good('ok')}  ${remote}\n${about}${why}`;
  });
  const failed = Object.entries(report.errors).map(
    ([url, error]) => `${style.bad('failed')}  ${oneLine(`${names.get(url) ?? url}: ${error}`)}\n`,
  );
  const remotes = report.count === 0 ? ["No remotes. 'hub remotes add <url>' adds one.\n"] : [...read, ...failed];
  const registration = report.synced || report.registered + report.failed > 0;
  const servers = registration ? registrationForPeople(report) : '';
  const { removed = [] } = report;
  const rest = removed.length - MOST_ITEMS;
  const items = `${removed.slice(0, MOST_ITEMS).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  const taken = removed.length > 0 ? `${removed.length} removed from the gateway: ${oneLine(items)}.\n` : '';
  const seeded = report.seeded ? 'Added the remotes of HUB_REMOTES.\n' : '';
  return `${seeded}${remotes.join('')}${servers}${taken}${report.note ? `${oneLine(report.note)}\n` : ''}`;
}
