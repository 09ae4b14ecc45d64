// The last ingests as a small chart: how much each one brought, and what it could not read.
import type { IngestRun } from '../../../src/remotes/contract.ts';
import { atMoment, duration } from '../parts/words.ts';
import { ingests } from './operations-state.ts';

const [WIDTH, HEIGHT, BASE] = [640, 124, 122];
const MOST_BARS = 24;
/** A single bar should not stand in the middle of nothing. */
const FEWEST_SLOTS = 8;
const KINDS = ['unchanged', 'updated', 'created', 'failed'] as const;

export function History() {
  if (!ingests.value) return null;
  const runs = ingests.value.last;
  return (
    <section class="panel" aria-labelledby="history">
      <h2 id="history">Ingest history</h2>
      {runs.length === 0 ? (
        <p class="quiet">Nothing has been read yet.</p>
      ) : (
        <>
          <Chart runs={runs.slice(0, MOST_BARS).reverse()} />
          <details>
            <summary>As a table</summary>
            <RunTable runs={runs} />
          </details>
        </>
      )}
    </section>
  );
}

function Chart({ runs }: { runs: readonly IngestRun[] }) {
  const most = Math.max(...runs.map(height), 1);
  const slots = Math.max(runs.length, FEWEST_SLOTS);
  const step = WIDTH / slots;
  const width = Math.min(step * 0.62, 30);
  const totals = KINDS.map((kind) => runs.reduce((sum, run) => sum + run[kind], 0));
  const label = `The last ${runs.length} ingests: ${KINDS.map((kind, place) => `${totals[place]} ${kind}`).join(', ')}.`;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
        <path class="chart-base" d={`M0 ${BASE + 0.5}H${WIDTH}`} />
        {runs.map((run, place) => (
          <g key={`${run.url} ${run.started_at}`} transform={`translate(${place * step + (step - width) / 2} 0)`}>
            <title>{describe(run)}</title>
            {bars(run, (BASE - 14) / most).map(({ kind, y, height }) => (
              <rect key={kind} class={`chart-${kind}`} x="0" y={y} width={width} height={height} rx="1.5" />
            ))}
            {run.ok === false && <path class="chart-broken" d={`M${width / 2 - 5} ${BASE - 12}l10 10m0-10-10 10`} />}
          </g>
        ))}
      </svg>
      <Times runs={runs} slots={slots} />
      <figcaption class="legend">
        {KINDS.toReversed().map((kind) => (
          <span key={kind} class={`legend-${kind}`}>
            {NAMES[kind]}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

/** Beside the drawing, which grows and shrinks with the screen: words must not. */
function Times({ runs, slots }: { runs: readonly IngestRun[]; slots: number }) {
  return (
    <p class="chart-times">
      {Array.from({ length: slots }, (_, slot) => {
        const run = slot === 0 || slot === runs.length - 1 ? runs[slot] : undefined;
        return <span key={slot}>{run && clock(run.started_at)}</span>;
      })}
    </p>
  );
}

const NAMES: Record<(typeof KINDS)[number], string> = {
  created: 'new',
  updated: 'changed',
  unchanged: 'as before',
  failed: 'refused',
};

/** A run of a hundred thousand and one of ten must both be seen, so that heights grow slower than counts. */
function height(run: IngestRun): number {
  return Math.log2(1 + KINDS.reduce((sum, kind) => sum + run[kind], 0));
}

function bars(run: IngestRun, scale: number): { kind: string; y: number; height: number }[] {
  const total = KINDS.reduce((sum, kind) => sum + run[kind], 0);
  let y = BASE;
  return KINDS.filter((kind) => run[kind] > 0).map((kind) => {
    const size = Math.max((run[kind] / total) * height(run) * scale, 2);
    y -= size;
    return { kind, y, height: size };
  });
}

function describe(run: IngestRun): string {
  const counts = KINDS.toReversed().map((kind) => `${run[kind]} ${NAMES[kind]}`);
  return `${atMoment(run.started_at)}, ${run.url}: ${run.ok === false ? (run.error ?? 'failed') : counts.join(', ')}`;
}

/** The time of today's, the day of all others. */
function clock(iso: string): string {
  const date = new Date(iso);
  if (date.toDateString() !== new Date().toDateString())
    return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

function RunTable({ runs }: { runs: readonly IngestRun[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
    <div class="table-scroll" tabIndex={0}>
      <table class="runs">
        <thead>
          <tr>
            {['Begun', 'Remote', 'Took', 'New', 'Changed', 'As before', 'Refused', 'Outcome'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={`${run.url} ${run.started_at}`}>
              <td>{atMoment(run.started_at)}</td>
              <td class="run-remote">
                <span class="address">{run.url}</span>
                {run.ok === false && run.error && <span class="run-error">{run.error}</span>}
              </td>
              <td>
                {run.finished_at ? duration((Date.parse(run.finished_at) - Date.parse(run.started_at)) / 1000) : '…'}
              </td>
              <td>{run.created}</td>
              <td>{run.updated}</td>
              <td>{run.unchanged}</td>
              <td>{run.failed}</td>
              <td>{run.ok === false ? 'failed' : 'read'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
