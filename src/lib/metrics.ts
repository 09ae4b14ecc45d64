// The hub's metrics, in Prometheus format.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface Metrics {
  observeRequest(request: { method: string; route: string; status: number; seconds: number }): void;
  observeQuery(query: { operation: string; seconds: number; failed: boolean }): void;
  countBackgroundSync(outcome: string): void;
  /** `read` is called at every scrape. */
  gauge(gauge: { name: string; help: string; label: string; read: () => Promise<Record<string, number>> }): void;
  /** The body of `GET /metrics`, with its content type. */
  render(): Promise<{ contentType: string; text: string }>;
}

export function createMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Histogram({
    name: 'hub_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  const queries = new Histogram({
    name: 'hub_db_query_duration_seconds',
    help: 'Duration of database statements, including time spent waiting, and of whole batches of an ingest.',
    labelNames: ['operation'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers,
  });
  const queryFailures = new Counter({
    name: 'hub_db_query_failures_total',
    help: 'Database statements that failed.',
    labelNames: ['operation'],
    registers,
  });

  const backgroundSyncs = new Counter({
    name: 'hub_background_syncs_total',
    help: 'Background syncs, by outcome.',
    labelNames: ['outcome'],
    registers,
  });

  return {
    observeRequest: ({ seconds, ...labels }) => requests.observe(labels, seconds),
    observeQuery({ operation, seconds, failed }) {
      queries.observe({ operation }, seconds);
      if (failed) queryFailures.inc({ operation });
    },
    countBackgroundSync: (outcome) => backgroundSyncs.inc({ outcome }),
    gauge({ name, help, label, read }) {
      new Gauge({
        name,
        help,
        labelNames: [label],
        registers,
        async collect() {
          this.reset();
          // Metrics are needed most during outages, so values that cannot be read are left out.
          const counts = await read().catch(() => ({}));
          for (const [value, count] of Object.entries(counts)) this.set({ [label]: value }, count);
        },
      });
    },
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
