// What an install would do, before it does it.
import { reasonNotForGateway } from '../../../src/gateway/state-words.ts';
import type { InstallPlan } from '../../../src/install/contract.ts';
import { stepName } from './steps.tsx';

interface PlanProps {
  plan: InstallPlan;
  target: string;
  /** Of the target. */
  fault: string | undefined;
}

export function Plan({ plan, target, fault }: PlanProps) {
  return (
    <>
      <p>
        Into the folder <code>{target}</code> on the hub’s machine:
      </p>
      <Fault fault={fault} />
      <ol class="plan">
        {plan.artifacts.map(({ step, command, reason, fault }) => (
          <li key={`${step} ${command}`}>
            <strong>{stepName(step)}</strong>
            {fault === undefined && <code class="plan-command">{command}</code>}
            <span class="quiet">{reason}</span>
            <Fault fault={fault} />
          </li>
        ))}
        {plan.adapters.map(({ framework, template_key, path, generic, fault }) => (
          <li key={path}>
            <strong>
              Write the adapter for {framework} ({template_key})
            </strong>
            <code class="plan-command">{path}</code>
            {generic && (
              <span class="quiet">There is no template for this pair: a general description is written.</span>
            )}
            <Fault fault={fault} />
          </li>
        ))}
        <Registering registration={plan.mcp_registration} />
        <li>
          <strong>{stepName('lockfile.write')}</strong>
          <code class="plan-command">hub.lock.json</code>
        </li>
      </ol>
    </>
  );
}

function Registering({ registration }: { registration: InstallPlan['mcp_registration'] }) {
  if (Object.keys(registration).length === 0) return null;
  const reason = reasonNotForGateway(registration);
  return (
    <li>
      <strong>{reason ? 'Not for the gateway' : stepName('gateway.register')}</strong>
      <span class="quiet">{reason ?? 'If the gateway refuses, the install still counts.'}</span>
    </li>
  );
}

/** Known before anything is done. */
function Fault({ fault }: { fault: string | undefined }) {
  return fault === undefined ? null : <span class="reason reason-bad">This will fail: {fault}</span>;
}
