// Recent ingests as a table.
import type { FinishedRun } from '../../../../src/remotes/contract.ts';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { atMoment, count, duration } from '../../parts/words.ts';
import { EntityLinks } from '../entity-links.tsx';
import { nameOf } from '../operations-state.ts';

const COLUMNS = ['Started', 'Remote', 'Duration', 'New', 'Changed', 'Unchanged', 'Refused', 'Missing', 'Outcome'];

export function HistoryTable({ runs }: { runs: readonly FinishedRun[] }) {
  return (
    <ScrollTable columns={COLUMNS}>
      {runs.map((run) => (
        <RunRow key={`${run.url} ${run.started_at}`} run={run} />
      ))}
    </ScrollTable>
  );
}

function RunRow({ run }: { run: FinishedRun }) {
  const { url, started_at, finished_at, ok, error, note, conflicts, unchecked } = run;
  return (
    <tr>
      <td class="run-time">{atMoment(started_at)}</td>
      <td class="run-remote">
        <span title={url}>{nameOf(url)}</span>
        {error && <span class="run-error">{error}</span>}
        {conflicts > 0 && <span class="run-note">{count(conflicts, 'conflict')}</span>}
        {note && <span class="run-note">{note}</span>}
        <Changes run={run} />
      </td>
      <td class="run-time">{duration((Date.parse(finished_at) - Date.parse(started_at)) / 1000)}</td>
      <td>{run.created}</td>
      <td>{run.updated}</td>
      <td>{unchecked > 0 ? `${unchecked} not checked` : run.unchanged}</td>
      <td>{run.failed}</td>
      <td>{run.missing}</td>
      <td>{ok ? 'ok' : 'failed'}</td>
    </tr>
  );
}

function Changes({ run: { changes } }: { run: FinishedRun }) {
  const kinds = [
    { name: 'New', ids: changes.created },
    { name: 'Changed', ids: changes.changed },
    { name: 'Missing', ids: changes.missing },
  ].filter(({ ids }) => ids.length > 0);
  if (kinds.length === 0) return null;
  return (
    <details class="run-changes">
      <summary>What changed</summary>
      <p class="quiet">Only the first entries of a long list are shown.</p>
      {kinds.map(({ name, ids }) => (
        <div key={name}>
          <h4>{name}</h4>
          <EntityLinks ids={ids} />
        </div>
      ))}
    </details>
  );
}
