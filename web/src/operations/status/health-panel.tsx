// The status of the hub, in a row of tiles.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { EntityType } from '../../../../src/catalog/uid.ts';
import type { HubFailure } from '../../api/failure.ts';
import { hub } from '../../api/hub.ts';
import { asFailure } from '../../api/problem.ts';
import { settings } from '../../api/settings.ts';
import { TYPES } from '../../parts/type-label.tsx';
import { atMoment, bytes, duration, shortNumber, uptime } from '../../parts/words.ts';
import { catalogRevision } from '../operations-state.ts';
import { GatewayTile } from './gateway-tile.tsx';
import { type Metrics, readMetrics } from './metrics-text.ts';
import { Tile } from './tile.tsx';
import { databaseTile, type HealthAnswer, hubTile } from './tile-words.ts';
import { Trends } from './trends.tsx';

const EVERY_MS = 15_000;

export function HealthPanel() {
  const health = useSignal<HealthAnswer>('asked');
  const metrics = useSignal<Metrics | { failure: HubFailure } | undefined>(undefined);

  useEffect(() => {
    const refresh = async () => {
      health.value = await hub.health().catch((error) => ({ failure: asFailure(error) }));
      metrics.value = await hub.metrics().then(readMetrics, (error) => ({ failure: asFailure(error) }));
    };
    void refresh();
    const timer = setInterval(refresh, EVERY_MS);
    return () => clearInterval(timer);
    // The metrics change with the catalog.
  }, [catalogRevision.value]);

  const known = metrics.value;
  return (
    <section class="panel" aria-labelledby="health">
      <h2 id="health">Health</h2>
      <dl class="tiles">
        <Tile name="Hub" {...hubTile(health.value)} />
        <Tile name="Database" {...databaseTile(health.value, settings.value)} />
        <GatewayTile />
        {known && !('failure' in known) && <MetricTiles metrics={known} />}
      </dl>
      {known && !('failure' in known) && <Trends metrics={known} />}
      {known && 'failure' in known && <NoMetrics failure={known.failure} />}
    </section>
  );
}

function NoMetrics({ failure }: { failure: HubFailure }) {
  if (failure.kind === 'unauthorized') {
    return (
      <p class="quiet">
        More metrics are at <code>/metrics</code>, which needs <code>METRICS_TOKEN</code>.
      </p>
    );
  }
  // The first tile already shows this.
  if (failure.kind === 'unreachable') return null;
  return <p class="quiet">Metrics are not available. {failure.message}</p>;
}

function MetricTiles({ metrics }: { metrics: Metrics }) {
  const { entities, requests, serverErrors, medianSeconds, memoryBytes, startedAt } = metrics;
  return (
    <>
      {(Object.keys(TYPES) as EntityType[]).map((type) => (
        <Tile key={type} name={TYPES[type].many} value={shortNumber(entities[type] ?? 0)} note="all versions" />
      ))}
      <Tile
        name="Requests"
        value={shortNumber(requests)}
        tone={serverErrors > 0 ? 'bad' : 'plain'}
        note={
          serverErrors > 0 ? `${serverErrors} server errors` : medianSeconds ? `median ${duration(medianSeconds)}` : ''
        }
      />
      {memoryBytes !== undefined && <Tile name="Memory" value={bytes(memoryBytes)} note="resident" />}
      {startedAt !== undefined && (
        <Tile
          name="Uptime"
          value={uptime(Date.now() / 1000 - startedAt)}
          note={`since ${atMoment(new Date(startedAt * 1000).toISOString())}`}
        />
      )}
    </>
  );
}
