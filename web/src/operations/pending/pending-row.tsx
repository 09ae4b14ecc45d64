// One server that is not in the gateway.
import { lackOfAddress } from '../../../../src/catalog/server.ts';
import { transportName } from '../../../../src/catalog/transport.ts';
import type { PendingItem } from '../../../../src/gateway/contract.ts';
import { gatewayState } from '../../../../src/gateway/state-words.ts';
import { shownAddress } from '../../../../src/lib/secrets/secret-address.ts';
import { ago, asSentence, count } from '../../parts/words.ts';
import { entityPath } from '../../router.ts';

interface PendingRowProps {
  item: PendingItem;
  isSelected: boolean;
  onSelect: (isOn: boolean) => void;
}

export function PendingRow({ item, isSelected, onSelect }: PendingRowProps) {
  const { uid, name, version, transport, server_url, gateway_error, gateway_registered_at } = item;
  // A server that runs as a local process does not belong in a gateway, so nothing has failed.
  const lack = lackOfAddress({ url: server_url, transport });
  return (
    <li class="row">
      <input
        type="checkbox"
        aria-label={`Select ${uid}`}
        checked={isSelected}
        onChange={(event) => onSelect(event.currentTarget.checked)}
      />
      <div class="row-main">
        <p class="row-title">
          <a href={entityPath(uid)}>{name}</a> <span class="result-version">{version}</span>
        </p>
        <p class="quiet address">
          {transport && transportName(transport)}
          {server_url !== '' && ` · ${shownAddress(server_url)}`}
        </p>
        {gateway_registered_at && <p class="quiet">{asSentence(gatewayState(item, ago).words)}</p>}
        {gateway_error ? (
          <p class={lack ? 'reason' : 'reason reason-bad'}>{gateway_error}</p>
        ) : (
          <p class="quiet">
            {item.has_registration ? (lack ?? 'Not tried yet.') : 'Its manifest has no registration.'}
          </p>
        )}
        <p class="quiet">{triesOf(item)}</p>
      </div>
    </li>
  );
}

function triesOf({ tries, last_try_at, next_try_at }: PendingItem): string {
  if (tries === 0 || !last_try_at) return '';
  const next = next_try_at ? `; next ${ago(next_try_at)}` : '';
  return `${count(tries, 'try', 'tries')}, the last ${ago(last_try_at)}${next}`;
}
