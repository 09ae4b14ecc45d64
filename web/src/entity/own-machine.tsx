// Installing on the reader's own machine: one command, for the client that they use.
import { useSignal } from '@preact/signals';
import { CLIENT_LAYOUTS, CLIENTS, type ClientName } from '../../../src/catalog/client-config.ts';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { installCommand } from './install-command.ts';

interface OwnMachineProps {
  entity: EntityRecord;
  /** Whether clients can be told how to reach or start it. */
  hasClients: boolean;
}

export function OwnMachine({ entity, hasClients }: OwnMachineProps) {
  const chosen = useSignal<ClientName | undefined>('claude');
  const client = hasClients ? chosen.value : undefined;
  const command = installCommand(entity, { origin: location.origin, client });
  if (command === undefined) {
    return <p class="quiet">Neither the name nor the id of this entry can be written safely in a shell command.</p>;
  }
  return (
    <>
      {hasClients && (
        <label class="client-choice">
          <span class="label">Client</span>
          <select
            value={client ?? ''}
            onChange={({ currentTarget }) => {
              chosen.value = CLIENTS.find((each) => each === currentTarget.value);
            }}
          >
            {CLIENTS.map((each) => (
              <option key={each} value={each}>
                {CLIENT_LAYOUTS[each].label}
              </option>
            ))}
            <option value="">None</option>
          </select>
        </label>
      )}
      <CopyBox text={command} label="the install command" />
      <p class="quiet">
        Run it in your project folder with the command line of Catalog Hub: <code>npm pack</code> in a checkout makes
        its package, <code>npm install -g ./catalog-hub-*.tgz</code> installs it. <code>--dry-run</code> only shows the
        plan. It writes <code>hub.lock.json</code>, which you can commit. {client && <ClientNote client={client} />}
      </p>
    </>
  );
}

function ClientNote({ client }: { client: ClientName }) {
  const { label, file, isUserFile, note } = CLIENT_LAYOUTS[client];
  return (
    <>
      {isUserFile ? `You add the server to ${label} yourself, in ` : `It adds the server to ${label}, in `}
      <code>{file}</code>. {note}
    </>
  );
}
