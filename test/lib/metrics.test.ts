import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetrics, type Metrics } from '../../src/lib/metrics.ts';

test('metrics: requests are counted and timed by method, route and status', async () => {
  const metrics = createMetrics();
  metrics.observeRequest({ method: 'GET', route: '/catalog', status: 200, seconds: 0.004 });
  metrics.observeRequest({ method: 'GET', route: '/catalog', status: 200, seconds: 0.4 });
  metrics.observeRequest({ method: 'GET', route: '/catalog', status: 404, seconds: 0.001 });
  const labels = 'method="GET",route="/catalog",status="200"';
  assert.deepEqual(await samplesOf(metrics, 'hub_http_request_duration_seconds', labels), {
    [`hub_http_request_duration_seconds_bucket{le="0.0025",${labels}}`]: 0,
    [`hub_http_request_duration_seconds_bucket{le="0.005",${labels}}`]: 1,
    [`hub_http_request_duration_seconds_bucket{le="+Inf",${labels}}`]: 2,
    [`hub_http_request_duration_seconds_sum{${labels}}`]: 0.404,
    [`hub_http_request_duration_seconds_count{${labels}}`]: 2,
  });
});

test('metrics: a failed statement counts as a statement and as a failure', async () => {
  const metrics = createMetrics();
  metrics.observeQuery({ operation: 'select', seconds: 0.001, failed: false });
  metrics.observeQuery({ operation: 'select', seconds: 0.001, failed: true });
  metrics.observeQuery({ operation: 'insert', seconds: 0.001, failed: false });
  const { text } = await metrics.render();
  assert.match(text, /^hub_db_query_duration_seconds_count\{operation="select"\} 2$/m);
  assert.match(text, /^hub_db_query_failures_total\{operation="select"\} 1$/m);
  assert.doesNotMatch(text, /^hub_db_query_failures_total\{operation="insert"\}/m);
});

test('metrics: a gauge is read at every scrape, without old labels', async () => {
  const metrics = createMetrics();
  let counts: Record<string, number> = { tool: 1, agent: 2 };
  metrics.gauge({ name: 'hub_things', help: 'Things.', label: 'type', read: async () => counts });
  assert.deepEqual(await samplesOf(metrics, 'hub_things'), {
    'hub_things{type="tool"}': 1,
    'hub_things{type="agent"}': 2,
  });
  counts = { tool: 5 };
  assert.deepEqual(await samplesOf(metrics, 'hub_things'), { 'hub_things{type="tool"}': 5 });
});

test('metrics: an unreadable gauge does not affect other metrics', async () => {
  const metrics = createMetrics();
  metrics.gauge({
    name: 'hub_things',
    help: 'Things.',
    label: 'type',
    read: () => Promise.reject(new Error('The database does not answer')),
  });
  metrics.observeQuery({ operation: 'select', seconds: 0.001, failed: true });
  assert.deepEqual(await samplesOf(metrics, 'hub_things'), {});
  assert.deepEqual(await samplesOf(metrics, 'hub_db_query_failures_total'), {
    'hub_db_query_failures_total{operation="select"}': 1,
  });
});

test('metrics: the text is in Prometheus format and includes process metrics', async () => {
  const { contentType, text } = await createMetrics().render();
  assert.match(contentType, /^text\/plain; version=0\.0\.4/);
  assert.match(text, /^# TYPE hub_http_request_duration_seconds histogram$/m);
  assert.match(text, /^process_cpu_seconds_total [\d.e-]+$/m);
  assert.match(text, /^nodejs_eventloop_lag_seconds [\d.e-]+$/m);
});

test('metrics: two hubs in one process have separate metrics', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.observeQuery({ operation: 'select', seconds: 0.001, failed: true });
  assert.deepEqual(await samplesOf(other, 'hub_db_query_failures_total'), {});
});

/** The samples of one metric; for histograms, only the buckets around the first and the last observation. */
async function samplesOf(metrics: Metrics, name: string, labels = ''): Promise<Record<string, number>> {
  const { text } = await metrics.render();
  const samples = text
    .split('\n')
    .filter((line) => line.startsWith(name) && line.includes(labels))
    .filter((line) => !line.includes('le="') || /le="(0\.0025|0\.005|\+Inf)"/.test(line))
    .map((line) => line.split(' ') as [string, string]);
  return Object.fromEntries(samples.map(([sample, value]) => [sample, Number(value)]));
}
