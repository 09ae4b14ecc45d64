// How a server is registered, and what the gateway made of it.
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { withoutCredentials } from '../../../src/lib/credentials.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { atMoment } from '../parts/words.ts';

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

function State({ entity: { gateway_registered_at, gateway_error } }: { entity: EntityRecord }) {
  if (gateway_registered_at && gateway_error) {
    return (
      <>
        <p>
          In the gateway since {atMoment(gateway_registered_at)}, but not as it is described here: its update failed.
        </p>
        <Reason label="Why its update failed" reason={gateway_error} />
      </>
    );
  }
  if (gateway_registered_at) return <p>In the gateway since {atMoment(gateway_registered_at)}.</p>;
  if (gateway_error) return <Reason label="Why it is not in the gateway" reason={gateway_error} />;
  return <p>Not in a gateway, as far as this hub knows.</p>;
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
    <>
      <CopyBox text={text} label="the registration" />
      {text !== whole && <p class="quiet">What looks like a secret or a login is left out.</p>}
    </>
  );
}
