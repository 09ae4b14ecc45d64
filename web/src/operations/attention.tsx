// Entries that need a decision: waiting for approval, not listed by any remote, or blocked.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { CatalogPage, EntitySummary } from '../../../src/catalog/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { FailureNotice } from '../parts/notice.tsx';
import { count, onDay } from '../parts/words.ts';
import { entityPath } from '../router.ts';
import { catalogRevision, refreshFailure } from './operations-state.ts';

const MOST_SHOWN = 20;

interface Entries {
  missing: CatalogPage;
  blocked: CatalogPage;
  /** Number of entries that wait for approval. */
  waiting: number;
}

export function Attention() {
  const entries = useSignal<Entries | undefined>(undefined);
  const failure = useSignal<HubFailure | undefined>(undefined);

  async function load(): Promise<void> {
    try {
      const [missing, blocked, approvals] = await Promise.all([
        hub.entitiesIn('missing', MOST_SHOWN),
        hub.entitiesIn('blocked', MOST_SHOWN),
        hub.approvals('pending', { limit: 1, offset: 0 }),
      ]);
      entries.value = { missing, blocked, waiting: approvals.total };
      failure.value = undefined;
    } catch (error) {
      failure.value = asFailure(error);
    }
  }
  useEffect(() => {
    void load();
  }, [catalogRevision.value]);

  const hasFailed = failure.value !== undefined && !refreshFailure.value;
  if (!hasFailed && (!entries.value || isEmpty(entries.value))) return null;
  return (
    <section class="panel" aria-labelledby="attention">
      <h2 id="attention">Entries that need attention</h2>
      {failure.value && hasFailed && <FailureNotice failure={failure.value} onRetry={load} />}
      {entries.value && (
        <>
          {entries.value.waiting > 0 && (
            <p>
              <a href="/operations/approvals">{count(entries.value.waiting, 'entry', 'entries')}</a> waiting for
              approval.
            </p>
          )}
          <List title="Not listed by any remote" page={entries.value.missing} about={missingWords} />
          <List title="Blocked" page={entries.value.blocked} about={blockedWords} />
        </>
      )}
    </section>
  );
}

function isEmpty({ missing, blocked, waiting }: Entries): boolean {
  return missing.total + blocked.total + waiting === 0;
}

interface ListProps {
  title: string;
  page: CatalogPage;
  about: (entry: EntitySummary) => string;
}

function List({ title, page: { items, total }, about }: ListProps) {
  if (total === 0) return null;
  return (
    <div class="attention-list">
      <h3>
        {title} <span class="head-count">{total}</span>
      </h3>
      <ul>
        {items.map((entry) => (
          <li key={entry.id}>
            <a href={entityPath(entry.id)}>{entry.title ?? entry.name}</a>{' '}
            <span class="result-version">{entry.version}</span> <span class="quiet">{about(entry)}</span>
          </li>
        ))}
      </ul>
      {total > items.length && (
        <p class="quiet">
          The first {items.length} of {total}.
        </p>
      )}
    </div>
  );
}

function missingWords({ missing_since }: EntitySummary): string {
  return missing_since ? `since ${onDay(missing_since)}` : '';
}

function blockedWords({ blocked_at, blocked_reason }: EntitySummary): string {
  const since = blocked_at ? `since ${onDay(blocked_at)}` : '';
  return blocked_reason ? `${since}: ${blocked_reason}` : since;
}
