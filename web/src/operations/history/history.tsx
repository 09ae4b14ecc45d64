// Recent ingests, as a chart and as a table.

import { ingests } from '../operations-state.ts';
import { HistoryChart } from './history-chart.tsx';
import { HistoryTable } from './history-table.tsx';

const MOST_BARS = 24;

export function History() {
  if (!ingests.value) return null;
  const runs = ingests.value.last;
  return (
    <section class="panel" aria-labelledby="history">
      <h2 id="history">Ingest history</h2>
      {runs.length === 0 ? (
        <p class="quiet">Add a remote and sync it to see how many manifests each ingest adds, changes or refuses.</p>
      ) : (
        <>
          <HistoryChart runs={runs.slice(0, MOST_BARS).reverse()} />
          <details>
            <summary>As a table</summary>
            <HistoryTable runs={runs} />
          </details>
        </>
      )}
    </section>
  );
}
