// Install instructions for the reader's own machine: one command for the chosen client.
import { CLIENT_LAYOUTS, type ClientName } from '../../../../src/catalog/client-config.ts';
import type { EntityRecord } from '../../../../src/catalog/contract.ts';
import { CopyBox } from '../../parts/copy-box.tsx';
import { installCommand } from './install-command.ts';

interface OwnMachineProps {
  entity: EntityRecord;
  /** Undefined if no client can be configured for it. */
  client: ClientName | undefined;
}

export function OwnMachine({ entity, client }: OwnMachineProps) {
  const command = installCommand(entity, { origin: location.origin, client });
  if (command === undefined) {
    return <p class="quiet">The id of this entry cannot be written safely in a shell command.</p>;
  }
  return (
    <>
      <CopyBox text={command} label="the install command" />
      <p class="quiet">
        Run it in your project folder. It writes <code>hub.lock.json</code>, which you can commit.{' '}
        <code>--dry-run</code> only shows the plan. {client && <ClientNote client={client} />}
      </p>
      <details>
        <summary>Get the hub command</summary>
        <p class="quiet">
          In a checkout of the hub, run <code>npm run pack:cli</code>. Copy the package to your machine, which needs
          Node 22.15 or newer, and run <code>npm install -g ./catalog-hub-cli-*.tgz</code> there. With Node 20, use{' '}
          <code>npm pack</code> and <code>catalog-hub-*.tgz</code> instead.
        </p>
      </details>
    </>
  );
}

function ClientNote({ client }: { client: ClientName }) {
  const { label, file, isUserFile, note } = CLIENT_LAYOUTS[client];
  return (
    <>
      {isUserFile ? `You add the server to ${label} yourself, in ` : `The server is added to ${label}, in `}
      <code>{file}</code>. {note}
    </>
  );
}
