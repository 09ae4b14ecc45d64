// How the hub is, in a few figures.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { EntityType } from '../../../src/catalog/uid.ts';
import type { Health } from '../../../src/hub-operations.ts';
import { hub } from '../api/hub.ts';
import { settings } from '../api/settings.ts';
import { TYPES } from '../parts/type-label.tsx';
import { ago, bytes, duration, shortNumber } from '../parts/words.ts';
import { type Figures, readFigures } from './metrics-text.ts';
import { pendingRevision } from './operations-state.ts';

const EVERY_MS = 15_000;

export function Glance() {
  const health = useSignal<Health | 'unknown'>('unknown');
  const figures = useSignal<Figures | 'protected' | undefined>(undefined);

  useEffect(() => {
    const look = async () => {
      health.value = await hub.health().catch(() => 'unknown' as const);
      figures.value = await hub.metrics().then(readFigures, () => 'protected' as const);
    };
    void look();
    const timer = setInterval(look, EVERY_MS);
    return () => clearInterval(timer);
    // Whatever changes pending servers changes these figures too.
  }, [pendingRevision.value]);

  const state = health.value;
  const isWell = state !== 'unknown' && state.status === 'ok';
  return (
    <section class="panel" aria-labelledby="glance">
      <h2 id="glance">Health</h2>
      <dl class="tiles">
        <Tile
          name="Hub"
          value={isWell ? 'Well' : 'In trouble'}
          tone={isWell ? 'good' : 'bad'}
          note={state === 'unknown' ? 'does not answer' : `version ${state.version}`}
        />
        <Tile
          name="Database"
          value={isWell ? 'Answers' : 'Does not answer'}
          tone={isWell ? 'good' : 'bad'}
          note={settings.value?.database === 'postgres' ? 'PostgreSQL' : 'SQLite'}
        />
        <Tile
          name="Gateway"
          value={settings.value?.gateway_configured ? 'Configured' : 'None'}
          note="MCP_GATEWAY_URL"
        />
        {typeof figures.value === 'object' && <FigureTiles figures={figures.value} />}
      </dl>
      {figures.value === 'protected' && (
        <p class="quiet">
          More figures are at <code>/metrics</code>, which has a token of its own (<code>METRICS_TOKEN</code>).
        </p>
      )}
    </section>
  );
}

function FigureTiles({ figures }: { figures: Figures }) {
  const { entities, requests, serverErrors, medianSeconds, memoryBytes, startedAt } = figures;
  return (
    <>
      {(Object.keys(TYPES) as EntityType[]).map((type) => (
        <Tile key={type} name={TYPES[type].many} value={shortNumber(entities[type] ?? 0)} note="in the catalog" />
      ))}
      <Tile
        name="Requests"
        value={shortNumber(requests)}
        tone={serverErrors > 0 ? 'bad' : undefined}
        note={
          serverErrors > 0
            ? `${serverErrors} failed in the hub`
            : medianSeconds
              ? `half within ${duration(medianSeconds)}`
              : ''
        }
      />
      {memoryBytes !== undefined && (
        <Tile
          name="Memory"
          value={bytes(memoryBytes)}
          note={startedAt ? `started ${ago(new Date(startedAt * 1000).toISOString())}` : ''}
        />
      )}
    </>
  );
}

function Tile({ name, value, note, tone = 'plain' }: { name: string; value: string; note: string; tone?: string }) {
  return (
    <div class={`tile tile-${tone}`}>
      <dt>{name}</dt>
      <dd>
        <span class="tile-value">{value}</span>
        <span class="tile-note">{note}</span>
      </dd>
    </div>
  );
}
