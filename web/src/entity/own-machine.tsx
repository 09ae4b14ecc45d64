// Installing on the reader's own machine: one command, for the client that they use.
import { useSignal } from '@preact/signals';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { CLIENT_CHOICES, installCommand } from './install-command.ts';

export function OwnMachine({ entity, hasClients }: { entity: EntityRecord; hasClients: boolean }) {
  const client = useSignal(hasClients ? 'claude' : '');
  const command = installCommand(entity, { origin: location.origin, client: client.value });
  if (command === undefined) {
    return <p class="quiet">Neither the name nor the id of this entry can be written safely in a shell command.</p>;
  }
  return (
    <>
      {hasClients && (
        <label class="client-choice">
          <span class="label">Client</span>
          <select
            value={client.value}
            onChange={(event) => {
              client.value = event.currentTarget.value;
            }}
          >
            {CLIENT_CHOICES.map(({ client, label }) => (
              <option key={client} value={client}>
                {label}
              </option>
            ))}
            <option value="">None</option>
          </select>
        </label>
      )}
      <CopyBox text={command} label="the install command" />
      <p class="quiet">
        Run it in your project folder. It installs there{client.value !== '' && ', configures the client'} and writes{' '}
        <code>hub.lock.json</code>. Add <code>--dry-run</code> to see the plan first. <code>hub</code> is the command
        line of Catalog Hub.
      </p>
    </>
  );
}
