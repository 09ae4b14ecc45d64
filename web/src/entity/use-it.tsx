// How to get it: the install command, and configurations to copy.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { kindNameOf } from '../../../src/catalog/artifact-kind.ts';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { asObject, type JsonObject } from '../../../src/lib/json.ts';
import { hub } from '../api/hub.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { clientConfigs } from './client-config.ts';
import { OwnMachine } from './own-machine.tsx';

export function UseIt({ entity, onInstall }: { entity: EntityRecord; onInstall: () => void }) {
  const { configs, reason } = clientConfigs(entity, useManifest(entity.id));
  const chosen = useSignal(0);
  const config = configs[chosen.value] ?? configs[0];
  return (
    <section class="panel" aria-labelledby="use-it">
      <h2 id="use-it">Use it</h2>
      <h3>Install</h3>
      <OwnMachine entity={entity} hasClients={configs.length > 0 || isBundle(entity)} />
      <button type="button" class="button" onClick={onInstall}>
        Install on the hub’s own machine…
      </button>
      {reason && entity.type === 'mcp_server' && (
        <>
          <h3>Connect a client</h3>
          <p class="quiet">{reason}</p>
        </>
      )}
      {config && (
        <>
          <h3>Connect a client</h3>
          <div class="tabs" role="tablist" aria-label="Client">
            {configs.map(({ client }, place) => (
              <button
                key={client}
                type="button"
                role="tab"
                id={`client-${place}`}
                aria-selected={config.client === client}
                aria-controls="client-config"
                tabIndex={config.client === client ? 0 : -1}
                onClick={() => {
                  chosen.value = place;
                }}
                onKeyDown={(event) => {
                  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
                  if (step === 0) return;
                  chosen.value = (place + step + configs.length) % configs.length;
                  document.getElementById(`client-${chosen.value}`)?.focus();
                }}
              >
                {client}
              </button>
            ))}
          </div>
          <div id="client-config" role="tabpanel" aria-labelledby={`client-${configs.indexOf(config)}`}>
            <p class="quiet">
              In <code>{config.file}</code>. {config.note} It runs with your rights: read what it starts before you
              paste it.
            </p>
            <CopyBox text={config.text} label={`the configuration for ${config.client}`} />
          </div>
        </>
      )}
    </section>
  );
}

/** How it is started is known once it is installed, and clients are told then. */
function isBundle({ type, artifacts }: EntityRecord): boolean {
  return (
    type === 'mcp_server' && artifacts.some(({ kind, spec }) => kindNameOf(String(kind), asObject(spec)) === 'mcpb')
  );
}

/** Empty until it is read, and when it cannot be: the entry of the catalog has to do then. */
function useManifest(id: string): JsonObject {
  const manifest = useSignal<{ id: string; document: JsonObject }>({ id, document: {} });
  useEffect(() => {
    let isGone = false;
    hub.manifest(id).then(
      (text) => {
        if (!isGone) manifest.value = { id, document: asObject(JSON.parse(text)) };
      },
      () => {},
    );
    return () => {
      isGone = true;
    };
  }, [id, manifest]);
  return manifest.value.id === id ? manifest.value.document : {};
}
