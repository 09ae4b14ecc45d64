// Extracts the metrics for the operations page from the Prometheus text.

export interface Metrics {
  entities: Record<string, number>;
  requests: number;
  serverErrors: number;
  /** Upper bound of the median response time; only buckets are known. */
  medianSeconds: number | undefined;
  memoryBytes: number | undefined;
  startedAt: number | undefined;
  /** Search requests by duration: the upper bound of a bucket in seconds, and the number of requests in it. */
  searches: { bound: number; count: number }[];
}

interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const REQUESTS = 'hub_http_request_duration_seconds';

export function readMetrics(text: string): Metrics {
  const samples = text.split('\n').flatMap(parseSample);
  const named = (name: string) => samples.filter((sample) => sample.name === name);
  const requests = named(`${REQUESTS}_count`);
  const sum = (some: readonly Sample[]) => some.reduce((total, { value }) => total + value, 0);
  return {
    entities: Object.fromEntries(named('hub_entities').map(({ labels, value }) => [labels.type ?? '', value])),
    requests: sum(requests),
    serverErrors: sum(requests.filter(({ labels }) => labels.status?.startsWith('5'))),
    medianSeconds: median(named(`${REQUESTS}_bucket`), sum(requests)),
    memoryBytes: named('process_resident_memory_bytes')[0]?.value,
    startedAt: named('process_start_time_seconds')[0]?.value,
    searches: histogram(named(`${REQUESTS}_bucket`).filter(({ labels }) => labels.route === '/catalog/search')),
  };
}

function parseSample(line: string): Sample[] {
  const [, name, labels = '', value] = /^([a-z_:][\w:]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
  if (!name) return [];
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [key, text]);
  return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
}

function histogram(buckets: readonly Sample[]): Metrics['searches'] {
  const byBound = Map.groupBy(buckets, ({ labels }) => Number(labels.le === '+Inf' ? Infinity : labels.le));
  const bounds = [...byBound.keys()].sort((one, other) => one - other);
  const below = bounds.map((bound) => (byBound.get(bound) ?? []).reduce((sum, { value }) => sum + value, 0));
  return bounds.map((bound, index) => ({ bound, count: (below[index] ?? 0) - (below[index - 1] ?? 0) }));
}

function median(buckets: readonly Sample[], total: number): number | undefined {
  const byBound = Map.groupBy(buckets, ({ labels }) => Number(labels.le === '+Inf' ? Infinity : labels.le));
  const bounds = [...byBound.keys()].sort((one, other) => one - other);
  return bounds.find((bound) => (byBound.get(bound) ?? []).reduce((sum, { value }) => sum + value, 0) >= total / 2);
}
