// How to use an entity: choose a client, then install the entity or copy its configuration.
import { useSignal } from '@preact/signals';
import { kindNameOf } from '../../../../src/catalog/artifact-kind.ts';
import { CLIENT_LAYOUTS, CLIENTS, type ClientName } from '../../../../src/catalog/client-config.ts';
import type { EntityRecord } from '../../../../src/catalog/contract.ts';
import { asObject, type JsonObject } from '../../../../src/lib/json.ts';
import { CopyBox } from '../../parts/copy-box.tsx';
import { clientConfigs } from './client-config.ts';
import { OwnMachine } from './own-machine.tsx';

interface UseItProps {
  entity: EntityRecord;
  manifest: JsonObject;
  onInstall: () => void;
}

export function UseIt({ entity, manifest, onInstall }: UseItProps) {
  const { configs, reason } = clientConfigs(entity, manifest);
  const chosen = useSignal<ClientName>('claude');
  const config = configs[CLIENTS.indexOf(chosen.value)];
  const hasClients = isServer(entity) && (config !== undefined || isBundle(entity));
  return (
    <section class="panel" aria-labelledby="use-it">
      <h2 id="use-it">Use it</h2>
      {hasClients && <ClientTabs chosen={chosen.value} onChoose={(client) => (chosen.value = client)} />}
      {!hasClients && <OwnMachine entity={entity} client={undefined} />}
      {hasClients && (
        <div id="client-panel" role="tabpanel" aria-labelledby={`client-${chosen.value}`}>
          <OwnMachine entity={entity} client={chosen.value} />
          {config && (
            <details class="client-config">
              <summary>Configure {config.client} by hand</summary>
              <p class="quiet">
                Add this to <code>{config.file}</code>. {config.note} The server runs with your permissions, so check
                the command before you paste it.
                {needsFiles(entity) && ' It runs files from a repository or an archive, so install it first.'}
              </p>
              <CopyBox text={config.text} label={`the configuration for ${config.client}`} />
            </details>
          )}
        </div>
      )}
      {reason && entity.type === 'mcp_server' && <p class="quiet">{reason}</p>}
      <button type="button" class="button" onClick={onInstall}>
        Install on the hub’s machine…
      </button>
    </section>
  );
}

/** Tools and agents may be packages that do not speak MCP. */
function isServer({ type, mcp_registration: registration }: EntityRecord): boolean {
  return type === 'mcp_server' || registration?.server !== undefined;
}

function needsFiles({ artifacts, mcp_registration: registration }: EntityRecord): boolean {
  const isUnpacked = artifacts.some(({ kind, spec }) => /^(git|zip)$/.test(kindNameOf(String(kind), asObject(spec))));
  return isUnpacked && !asObject(registration?.server).url;
}

/** A bundle's command is known only after the install, which then configures clients. */
function isBundle({ type, artifacts }: EntityRecord): boolean {
  return (
    type === 'mcp_server' && artifacts.some(({ kind, spec }) => kindNameOf(String(kind), asObject(spec)) === 'mcpb')
  );
}

function ClientTabs({ chosen, onChoose }: { chosen: ClientName; onChoose: (client: ClientName) => void }) {
  return (
    <div class="tabs" role="tablist" aria-label="Client">
      {CLIENTS.map((client, index) => (
        <button
          key={client}
          type="button"
          role="tab"
          id={`client-${client}`}
          aria-selected={client === chosen}
          aria-controls="client-panel"
          tabIndex={client === chosen ? 0 : -1}
          onClick={() => onChoose(client)}
          onKeyDown={(event) => {
            const to = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[event.key];
            const next = to === undefined ? undefined : CLIENTS.at(to % CLIENTS.length);
            if (next === undefined) return;
            event.preventDefault();
            onChoose(next);
            document.getElementById(`client-${next}`)?.focus();
          }}
        >
          {CLIENT_LAYOUTS[client].label}
        </button>
      ))}
    </div>
  );
}
