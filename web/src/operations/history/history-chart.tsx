// Recent ingests as bars: the number of manifests by outcome.
import type { IngestRun } from '../../../../src/remotes/contract.ts';
import { atMoment, count, shortMoment } from '../../parts/words.ts';
import { countWords } from '../ingest-words.ts';
import { nameOf } from '../operations-state.ts';

const [WIDTH, HEIGHT, BASE] = [640, 124, 122];
/** Keeps a single bar from standing alone in the middle. */
const FEWEST_SLOTS = 8;
/** From the bottom of a bar to the top. */
const KINDS = ['unchecked', 'unchanged', 'updated', 'created', 'failed'] as const;
type Kind = (typeof KINDS)[number];

const NAMES: Record<Kind, string> = {
  created: 'new',
  updated: 'changed',
  unchanged: 'unchanged',
  unchecked: 'not checked',
  failed: 'refused',
};

export function HistoryChart({ runs }: { runs: readonly IngestRun[] }) {
  const most = Math.max(...runs.map(height), 1);
  const slots = Math.max(runs.length, FEWEST_SLOTS);
  const step = WIDTH / slots;
  const width = Math.min(step * 0.62, 30);
  const shown = kindsOf(runs);
  const remotes = [...new Set(runs.map(({ url }) => url))];
  return (
    <figure class="chart" aria-label="Ingest history">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={labelOf(runs, shown)}>
        <path class="chart-base" d={`M0 ${BASE + 0.5}H${WIDTH}`} />
        {runs.map((run, index) => (
          <g key={`${run.url} ${run.started_at}`} transform={`translate(${index * step + (step - width) / 2} 0)`}>
            <title>{describe(run)}</title>
            {bars(run, (BASE - 14) / most).map(({ kind, y, height }) => (
              <rect key={kind} class={`chart-${kind}`} x="0" y={y} width={width} height={height} rx="1.5" />
            ))}
            {run.ok === false && <path class="chart-broken" d={`M${width / 2 - 5} ${BASE - 12}l10 10m0-10-10 10`} />}
          </g>
        ))}
      </svg>
      <Times runs={runs} slots={slots} remotes={remotes} />
      <figcaption class="legend">
        {shown.map((kind) => (
          <span key={kind} class={`legend-${kind}`}>
            {NAMES[kind]}
          </span>
        ))}
        {runs.some(({ ok }) => ok === false) && <span class="legend-broken">ingest failed</span>}
      </figcaption>
      <p class="quiet">
        {remotes.length > 1 && `${remotes.map((url, index) => `${index + 1}: ${nameOf(url)}`).join(', ')}. `}
        Oldest first. The tallest bar has {count(Math.max(...runs.map(size)), 'manifest')}; the scale is logarithmic.
      </p>
    </figure>
  );
}

interface TimesProps {
  runs: readonly IngestRun[];
  slots: number;
  /** Numbered if there are several. */
  remotes: readonly string[];
}

/** Outside the drawing, which scales with the screen, because text must keep its size. */
function Times({ runs, slots, remotes }: TimesProps) {
  return (
    <p class="chart-times">
      {Array.from({ length: slots }, (_, slot) => {
        const run = runs[slot];
        const isEnd = slot === 0 || slot === runs.length - 1;
        return (
          <span key={slot}>
            {remotes.length > 1 && run && <span>{remotes.indexOf(run.url) + 1}</span>}
            {isEnd && run && <span>{shortMoment(run.started_at)}</span>}
          </span>
        );
      })}
    </p>
  );
}

/** The usual kinds; includes `unchecked` only if a run left manifests unchecked. */
function kindsOf(runs: readonly IngestRun[]): Kind[] {
  return KINDS.toReversed().filter((kind) => kind !== 'unchecked' || runs.some(({ unchecked }) => unchecked > 0));
}

function labelOf(runs: readonly IngestRun[], kinds: readonly Kind[]): string {
  const totals = kinds.map((kind) => `${runs.reduce((sum, run) => sum + run[kind], 0)} ${NAMES[kind]}`);
  return `${runs.length === 1 ? 'The last ingest' : `The last ${runs.length} ingests`}: ${totals.join(', ')}.`;
}

/** Logarithmic, so that a run of ten is visible next to one of a hundred thousand. */
function height(run: IngestRun): number {
  return Math.log2(1 + size(run));
}

function size(run: IngestRun): number {
  return KINDS.reduce((sum, kind) => sum + run[kind], 0);
}

function bars(run: IngestRun, scale: number): { kind: string; y: number; height: number }[] {
  const total = size(run);
  let y = BASE;
  return KINDS.filter((kind) => run[kind] > 0).map((kind) => {
    const size = Math.max((run[kind] / total) * height(run) * scale, 2);
    y -= size;
    return { kind, y, height: size };
  });
}

function describe(run: IngestRun): string {
  const words = run.ok === false ? (run.error ?? 'failed') : countWords(run);
  return `${atMoment(run.started_at)}, ${nameOf(run.url)}: ${words}`;
}
