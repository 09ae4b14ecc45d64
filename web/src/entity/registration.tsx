// The registration of a server, and its state in the gateway.
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { gatewayState, reasonNotRegistered } from '../../../src/gateway/state-words.ts';
import { withoutCredentials } from '../../../src/lib/secrets/credentials.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { asSentence, atMoment } from '../parts/words.ts';

export function Registration({ entity }: { entity: EntityRecord }) {
  const { mcp_registration, type } = entity;
  if (!mcp_registration && type !== 'mcp_server') return null;
  return (
    <section class="panel" aria-labelledby="registration">
      <h2 id="registration">Registration</h2>
      <State entity={entity} />
      {mcp_registration && <Document registration={mcp_registration} />}
    </section>
  );
}

function State({ entity }: { entity: EntityRecord }) {
  const { words, reason } = gatewayState(entity, atMoment);
  return (
    <>
      <p>{asSentence(words)}</p>
      {reason && <Reason label={reason.label} reason={reason.text} />}
      {!reason && !entity.gateway_registered_at && <p class="quiet">{reasonNotRegistered(entity)}</p>}
    </>
  );
}

function Reason({ label, reason }: { label: string; reason: string }) {
  return (
    <p class="reason reason-bad">
      <span class="reason-label">{label}</span> {reason}
    </p>
  );
}

function Document({ registration }: { registration: Record<string, unknown> }) {
  const whole = JSON.stringify(registration, null, 2);
  const text = JSON.stringify(withoutCredentials(registration), null, 2);
  return (
    <details>
      <summary>As in the manifest</summary>
      <CopyBox text={text} label="the registration" />
      {text !== whole && <p class="quiet">Values that look like secrets or logins are left out.</p>}
    </details>
  );
}
