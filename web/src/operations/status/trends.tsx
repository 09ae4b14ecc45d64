// Three charts: the growth of the catalog, registrations by day, and the duration of searches.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RegistrationHistory } from '../../../../src/gateway/contract.ts';
import type { FinishedRun } from '../../../../src/remotes/contract.ts';
import { hub } from '../../api/hub.ts';
import { settings } from '../../api/settings.ts';
import { atMoment, count, duration, onDay, shortMoment, shortNumber } from '../../parts/words.ts';
import { catalogRevision, ingests } from '../operations-state.ts';
import type { Metrics } from './metrics-text.ts';

const [WIDTH, HEIGHT] = [320, 96];
const MOST_LABELS = 5;
/** Half the width of the longest label, such as `≤ 250 ms`. */
const HALF_LABEL = 26;
/** Shares of fewer searches mean little. */
const FEWEST_FOR_SHARES = 20;

export function Trends({ metrics }: { metrics: Metrics }) {
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
  return (
    <div class="trends">
      <Growth
        runs={ingests.value?.last ?? []}
        now={Object.values(metrics.entities).reduce((sum, each) => sum + each, 0)}
      />
      {settings.value?.gateway_configured && registrations.value && <Registrations {...registrations.value} />}
      <Latency buckets={metrics.searches} />
    </div>
  );
}

/** The size of the catalog after each ingest, and now: entries may have been removed since. */
function Growth({ runs, now }: { runs: readonly FinishedRun[]; now: number }) {
  // Remotes are read at the same time, and may end in another order than they started.
  const ingested = runs
    .flatMap(({ finished_at: at, catalog_size: size }) => (size !== null ? [{ at, size, time: Date.parse(at) }] : []))
    .sort((one, other) => one.time - other.time);
  const [first] = ingested;
  if (!first)
    return (
      <NoTrend name="Catalog size">Add a remote and sync it to see how the catalog grows with each ingest.</NoTrend>
    );
  const time = Math.max(Date.now(), ...ingested.map((point) => point.time));
  const last = { at: new Date(time).toISOString(), size: now, time };
  const points = [...ingested, last];
  const most = Math.max(...points.map(({ size }) => size), 1);
  const least = Math.min(...points.map(({ size }) => size));
  const span = Math.max(last.time - first.time, 1);
  const x = ({ time }: { time: number }) => 4 + ((time - first.time) / span) * (WIDTH - 8);
  const y = ({ size }: { size: number }) => HEIGHT - (size / most) * (HEIGHT - 3);
  const path = points.map((point, index) => `${index === 0 ? 'M' : 'L'}${x(point)} ${y(point)}`).join('');
  const many = count(last.size, 'entry', 'entries');
  const words = points.every(({ size }) => size === last.size)
    ? `${many} (all versions); unchanged since ${atMoment(first.at)}`
    : `${many} now (all versions); between ${shortNumber(least)} and ${shortNumber(most)} since ${atMoment(first.at)}`;
  return (
    <Trend
      name="Catalog size"
      value={shortNumber(last.size)}
      words={words}
      most={most}
      ends={[shortMoment(first.at), 'now']}
    >
      <path class="trend-area" d={`${path}L${x(last)} ${HEIGHT}L${x(first)} ${HEIGHT}Z`} />
      <path class="trend-line" d={path} />
      {points.map((point, index) => (
        <circle key={index} class="trend-dot" cx={x(point)} cy={y(point)} r="2.5">
          <title>{`${atMoment(point.at)}: ${count(point.size, 'entry', 'entries')}`}</title>
        </circle>
      ))}
    </Trend>
  );
}

function Registrations({ days, total }: RegistrationHistory) {
  const [first, last] = [days[0], days.at(-1)];
  const name = 'Registrations per day';
  if (!first || !last)
    return (
      <NoTrend name={name}>
        Sync a remote with MCP servers to see how many are registered with the gateway each day.
      </NoTrend>
    );
  const bars = days.map(({ day, registered }) => ({
    label: '',
    number: registered,
    title: `${dayName(day)}: ${registered}`,
  }));
  const recent = days.reduce((sum, { registered }) => sum + registered, 0);
  const when = first === last ? `on ${dayName(first.day)}` : `from ${dayName(first.day)} to ${dayName(last.day)}`;
  const words = `${shortNumber(recent)} registered or updated ${when}; ${shortNumber(total)} in the gateway now`;
  const ends: [string, string] = [dayName(first.day), first === last ? '' : dayName(last.day)];
  return <Bars name={name} value={shortNumber(recent)} words={words} bars={bars} ends={ends} />;
}

/** Noon UTC falls on the same day nearly everywhere. */
const dayName = (day: string) => onDay(`${day}T12:00:00Z`);

function Latency({ buckets }: { buckets: Metrics['searches'] }) {
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  if (total === 0) return <NoTrend name="Search latency">Search the catalog to see how long searches take.</NoTrend>;
  const first = buckets.findIndex(({ count }) => count > 0);
  const shown = buckets.slice(Math.max(first - 1, 0), buckets.findLastIndex(({ count }) => count > 0) + 2);
  const searches = count(total, 'search', 'searches');
  const median = boundAt(buckets, total * 0.5);
  const words =
    total < FEWEST_FOR_SHARES
      ? `${searches} since the hub started`
      : `${searches}: median ${median}, 95th percentile ${boundAt(buckets, total * 0.95)}`;
  // Labels of many bars would overlap.
  const hasLabel = (index: number) => shown.length <= MOST_LABELS || index % 2 === 0;
  const bars = shown.map(({ bound, count: number }, index) => ({
    label: hasLabel(index) ? boundName(bound, buckets).replaceAll(' ', '\u2009') : '',
    number,
    title: `${boundName(bound, buckets)}: ${number}`,
  }));
  const value = total < FEWEST_FOR_SHARES ? '' : median;
  return <Bars name="Search latency" value={value} words={words} bars={bars} />;
}

interface TrendProps {
  name: string;
  value: string;
  /** The chart in a sentence. */
  words: string;
  /** The top of the scale, which starts at 0. */
  most: number;
  /** Where the horizontal axis starts and ends. */
  ends?: [string, string];
}

function Trend({ name, value, words, most, ends, children }: TrendProps & { children: ComponentChildren }) {
  return (
    <figure class="trend" aria-label={name}>
      <figcaption>
        {name} <strong>{value}</strong>
      </figcaption>
      <p class="trend-most" aria-hidden="true">
        {shortNumber(most)}
      </p>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
        {children}
      </svg>
      {ends && (
        <p class="trend-ends" aria-hidden="true">
          <span>{ends[0]}</span>
          <span>{ends[1]}</span>
        </p>
      )}
      <p class="quiet">{words}</p>
    </figure>
  );
}

/** Keeps the place of a chart that has nothing to show yet. */
function NoTrend({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <figure class="trend" aria-label={name}>
      <figcaption>{name}</figcaption>
      <p class="quiet">{children}</p>
    </figure>
  );
}

type BarsProps = Omit<TrendProps, 'most'> & {
  bars: readonly { label: string; number: number; title: string }[];
};

function Bars({ bars, ...trend }: BarsProps) {
  const most = Math.max(...bars.map(({ number }) => number), 1);
  const step = WIDTH / Math.max(bars.length, 6);
  return (
    <Trend {...trend} most={most}>
      {bars.map(({ label, number, title }, index) => {
        const height = number === 0 ? 0 : Math.max((number / most) * (HEIGHT - 16), 2);
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
            <text class="trend-label" {...labelPlace(index * step + step / 2)} y={HEIGHT - 2}>
              {label}
            </text>
          </g>
        );
      })}
    </Trend>
  );
}

/** Labels at the edges start or end there, because text outside the chart is cut off. */
function labelPlace(center: number) {
  if (center < HALF_LABEL) return { x: 0, 'text-anchor': 'start' } as const;
  if (center > WIDTH - HALF_LABEL) return { x: WIDTH, 'text-anchor': 'end' } as const;
  return { x: center, 'text-anchor': 'middle' } as const;
}

/** The bucket that contains the search of this rank. */
function boundAt(buckets: Metrics['searches'], rank: number): string {
  let below = 0;
  const found = buckets.find(({ count }) => {
    below += count;
    return below >= rank;
  });
  return boundName(found?.bound ?? Infinity, buckets);
}

/** `≤ 50 ms`, or `> 10.0 s` for the last bucket. */
function boundName(bound: number, buckets: Metrics['searches']): string {
  if (Number.isFinite(bound)) return `≤ ${duration(bound)}`;
  return `> ${duration(Math.max(...buckets.map((each) => each.bound).filter(Number.isFinite)))}`;
}
