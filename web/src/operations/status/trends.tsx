// Three charts: the growth of the catalog, registrations by day, and the duration of searches.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { RegistrationHistory } from '../../../../src/gateway/contract.ts';
import type { IngestRun } from '../../../../src/remotes/contract.ts';
import { hub } from '../../api/hub.ts';
import { atMoment, count, duration, onDay, shortNumber } from '../../parts/words.ts';
import { catalogRevision, ingests } from '../operations-state.ts';
import type { Figures } from './metrics-text.ts';

const [WIDTH, HEIGHT] = [320, 96];
const MOST_LABELS = 5;

export function Trends({ figures }: { figures: Figures }) {
  const total = Object.values(figures.entities).reduce((sum, number) => sum + number, 0);
  const runs = (ingests.value?.last ?? []).filter(({ ok }) => ok === true).toReversed();
  const searches = figures.searches.filter(({ count }) => count > 0);
  const registrations = useSignal<RegistrationHistory | undefined>(undefined);
  useEffect(() => {
    // Without a response, the chart is omitted; the tiles show the error.
    void hub.registrations().then(
      (history) => {
        registrations.value = history;
      },
      () => undefined,
    );
  }, [catalogRevision.value]);
  const registered = registrations.value;
  const hasRegistered = registered !== undefined && registered.total > 0;
  if (runs.length < 2 && searches.length === 0 && !hasRegistered) return null;
  return (
    <div class="trends">
      {runs.length > 1 && <Growth points={growthOf(runs, total)} />}
      {hasRegistered && <Registrations {...registered} />}
      {searches.length > 0 && <Latency buckets={figures.searches} />}
    </div>
  );
}

interface Point {
  at: string;
  entries: number;
}

/** Entries after each run, counted backward from today, because a run records only what it added. */
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
  // A catalog that did not grow is a line in the middle: at the bottom, it would look empty.
  const share = (entries: number) => (most === least ? 0.5 : (entries - least) / (most - least));
  const y = ({ entries }: Point) => HEIGHT - 6 - share(entries) * (HEIGHT - 12);
  const x = (index: number) => 4 + (index / (points.length - 1)) * (WIDTH - 8);
  const path = points.map((point, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(point)}`).join('');
  const words = `From ${shortNumber(first.entries)} to ${count(last.entries, 'entry', 'entries')} over ${points.length} ingests`;
  return (
    <figure class="trend">
      <figcaption>
        Catalog size <strong>{shortNumber(last.entries)}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
        <path class="trend-area" d={`${path}L${x(points.length - 1)} ${HEIGHT}L${x(0)} ${HEIGHT}Z`} />
        <path class="trend-line" d={path} />
        {points.map((point, index) => (
          <circle key={point.at} class="trend-dot" cx={x(index)} cy={y(point)} r="2.5">
            <title>{`${atMoment(point.at)}: ${count(point.entries, 'entry', 'entries')}`}</title>
          </circle>
        ))}
      </svg>
      <p class="quiet">{words}</p>
    </figure>
  );
}

function Registrations({ days, total }: RegistrationHistory) {
  const [first, last] = [days[0], days.at(-1)];
  if (!first || !last) return null;
  const bars = days.map(({ day, registered }) => ({
    label: '',
    number: registered,
    title: `${dayName(day)}: ${registered}`,
  }));
  const recent = days.reduce((sum, { registered }) => sum + registered, 0);
  const when = first === last ? `on ${dayName(first.day)}` : `from ${dayName(first.day)} to ${dayName(last.day)}`;
  const words = `${shortNumber(recent)} registered or updated ${when}`;
  return <Bars name="In the gateway" value={shortNumber(total)} words={words} bars={bars} />;
}

/** Noon UTC falls on the same day nearly everywhere. */
const dayName = (day: string) => onDay(`${day}T12:00:00Z`);

function Latency({ buckets }: { buckets: Figures['searches'] }) {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  const first = buckets.findIndex(({ count }) => count > 0);
  const shown = buckets.slice(Math.max(first - 1, 0), buckets.findLastIndex(({ count }) => count > 0) + 2);
  const median = boundAt(buckets, total * 0.5);
  const words = `Median ${median}, 95 % within ${boundAt(buckets, total * 0.95)}, of ${count(total, 'search', 'searches')}`;
  // Labels of many bars would overlap.
  const hasLabel = (index: number) => shown.length <= MOST_LABELS || index % 2 === 0;
  const labelOf = (bound: number) => (Number.isFinite(bound) ? duration(bound).replace(' ', '\u2009') : '…');
  const bars = shown.map(({ bound, count: number }, index) => ({
    label: hasLabel(index) ? labelOf(bound) : '',
    number,
    title: `${nameOf(bound)}: ${number}`,
  }));
  return <Bars name="Search latency" value={median} words={words} bars={bars} />;
}

interface BarsProps {
  name: string;
  value: string;
  /** The chart in a sentence. */
  words: string;
  bars: readonly { label: string; number: number; title: string }[];
}

function Bars({ name, value, words, bars }: BarsProps) {
  const most = Math.max(...bars.map(({ number }) => number), 1);
  const step = WIDTH / Math.max(bars.length, 6);
  return (
    <figure class="trend">
      <figcaption>
        {name} <strong>{value}</strong>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
        {bars.map(({ label, number, title }, index) => {
          const height = number === 0 ? 0 : Math.max((number / most) * (HEIGHT - 20), 2);
          return (
            <g key={title}>
              <rect
                class="trend-bar"
                x={index * step + 2}
                y={HEIGHT - 14 - height}
                width={step - 4}
                height={height}
                rx="2"
              >
                <title>{title}</title>
              </rect>
              <text class="trend-label" x={index * step + step / 2} y={HEIGHT - 2}>
                {label}
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
