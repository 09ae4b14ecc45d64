// How to get it: the hub's own command, and configurations to copy.
import { useSignal } from '@preact/signals';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { clientConfigs } from './client-config.ts';
import { installCommand } from './install-command.ts';

export function UseIt({ entity, onInstall }: { entity: EntityRecord; onInstall: () => void }) {
  const configs = clientConfigs(entity);
  const chosen = useSignal(0);
  const config = configs[chosen.value] ?? configs[0];
  return (
    <section class="panel" aria-labelledby="use-it">
      <h2 id="use-it">Use it</h2>
      <h3>Install with the hub</h3>
      <CopyBox text={installCommand(location.origin, entity.id)} label="the install command" />
      <p class="quiet">
        <code>hub</code> is the command line of Catalog Hub: <code>npm install -g ./catalog-hub-*.tgz</code> installs it
        from the package that <code>npm pack</code> makes in a checkout.
      </p>
      <p class="quiet">
        Installs into the folder you are in, checks what it fetches, and writes <code>hub.lock.json</code>;{' '}
        <code>--dry-run</code> only shows the plan. Or let the hub do it on its own machine:
      </p>
      <button type="button" class="button button-main" onClick={onInstall}>
        Install on the hub…
      </button>
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
              In <code>{config.file}</code>. It runs with your rights: read what it starts before you paste it.
            </p>
            <CopyBox text={config.text} label={`the configuration for ${config.client}`} />
          </div>
        </>
      )}
    </section>
  );
}
