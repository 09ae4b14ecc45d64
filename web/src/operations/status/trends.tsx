// Two charts: how the catalog grew with the last ingests, and how long searches take.
import type { IngestRun } from '../../../../src/remotes/contract.ts';
import { atMoment, count, duration, shortNumber } from '../../parts/words.ts';
import { ingests } from '../operations-state.ts';
import type { Figures } from './metrics-text.ts';

const [WIDTH, HEIGHT] = [320, 96];

export function Trends({ figures }: { figures: Figures }) {
  const total = Object.values(figures.entities).reduce((sum, number) => sum + number, 0);
  const runs = (ingests.value?.last ?? []).filter(({ ok }) => ok === true).toReversed();
  const searches = figures.searches.filter(({ count }) => count > 0);
  if (runs.length < 2 && searches.length === 0) return null;
  return (
    <div class="trends">
      {runs.length > 1 && <Growth points={growthOf(runs, total)} />}
      {searches.length > 0 && <Latency buckets={figures.searches} />}
    </div>
  );
}

interface Point {
  at: string;
  entries: number;
}

/** Entries after each run, counted back from today: a run knows what it added, and not what was there. */
function growthOf(runs: readonly IngestRun[], total: number): Point[] {
  const points: Point[] = [];
  let entries = total;
  for (const run of runs.toReversed()) {
    points.unshift({ at: run.finished_at ?? run.started_at, entries });
    entries -= run.created;
  }
  return points;
}

function Growth({ points }: { points: readonly Point[] }) {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last) return null;
  const [least, most] = [Math.min(first.entries, last.entries), Math.max(first.entries, last.entries)];
  const y = ({ entries }: Point) => HEIGHT - 6 - ((entries - least) / Math.max(most - least, 1)) * (HEIGHT - 12);
  const x = (place: number) => 4 + (place / (points.length - 1)) * (WIDTH - 8);
  const path = points.map((point, place) => `${place === 0 ? 'M' : 'L'}${x(place)} ${y(point)}`).join('');
  const words = `From ${shortNumber(first.entries)} to ${count(last.entries, 'entry', 'entries')} over ${points.length} ingests`;
  return (
    <figure class="trend">
      <figcaption>
        Catalog size <strong>{shortNumber(last.entries)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
        <path class="trend-area" d={`${path}L${x(points.length - 1)} ${HEIGHT}L${x(0)} ${HEIGHT}Z`} />
        <path class="trend-line" d={path} />
        {points.map((point, place) => (
          <circle key={point.at} class="trend-dot" cx={x(place)} cy={y(point)} r="2.5">
            <title>{`${atMoment(point.at)}: ${count(point.entries, 'entry', 'entries')}`}</title>
          </circle>
        ))}
      </svg>
      <p class="quiet">{words}</p>
    </figure>
  );
}

function Latency({ buckets }: { buckets: Figures['searches'] }) {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  const first = buckets.findIndex(({ count }) => count > 0);
  const shown = buckets.slice(Math.max(first - 1, 0), buckets.findLastIndex(({ count }) => count > 0) + 2);
  const most = Math.max(...shown.map(({ count }) => count), 1);
  const step = WIDTH / Math.max(shown.length, 6);
  const words = `Median ${boundAt(buckets, total * 0.5)}, 95 % within ${boundAt(buckets, total * 0.95)}, of ${count(total, 'search', 'searches')}`;
  return (
    <figure class="trend">
      <figcaption>
        Search latency <strong>{boundAt(buckets, total * 0.5)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
        {shown.map(({ bound, count: number }, place) => {
          const height = number === 0 ? 0 : Math.max((number / most) * (HEIGHT - 20), 2);
          return (
            <g key={bound}>
              <rect
                class="trend-bar"
                x={place * step + 2}
                y={HEIGHT - 14 - height}
                width={step - 4}
                height={height}
                rx="2"
              >
                <title>{`${nameOf(bound)}: ${number}`}</title>
              </rect>
              <text class="trend-label" x={place * step + step / 2} y={HEIGHT - 2}>
                {Number.isFinite(bound) ? duration(bound).replace(' ', '\u2009') : '…'}
              </text>
            </g>
          );
        })}
      </svg>
      <p class="quiet">{words}</p>
    </figure>
  );
}

function boundAt(buckets: Figures['searches'], rank: number): string {
  let below = 0;
  for (const { bound, count } of buckets) {
    below += count;
    if (below >= rank) return nameOf(bound);
  }
  return nameOf(Infinity);
}

function nameOf(bound: number): string {
  return Number.isFinite(bound) ? duration(bound) : 'longer';
}
