// The plan of an install.
import { reasonNotForGateway } from '../../../src/gateway/state-words.ts';
import type { InstallPlan, InstallReport, PlannedAdapter, PlannedArtifact } from '../../../src/install/contract.ts';
import { settings } from '../api/settings.ts';
import { takeFocus } from '../parts/take-focus.ts';
import { stepName } from './steps.tsx';
import { Warnings } from './warnings.tsx';

export function Plan({ report }: { report: InstallReport }) {
  const { plan, target } = report;
  return (
    <>
      <h3 ref={takeFocus} tabIndex={-1}>
        Into the folder <code>{target}</code> on the hub’s machine:
      </h3>
      <Warnings warnings={report.warnings} />
      <ol class="plan">
        {plan.artifacts.map((artifact) => (
          <Artifact key={`${artifact.step} ${artifact.command}`} {...artifact} />
        ))}
        {plan.adapters.map((adapter) => (
          <Adapter key={`${adapter.framework} ${adapter.path}`} {...adapter} />
        ))}
        <Registering registration={plan.mcp_registration} />
        <li>
          <strong>{stepName('lockfile.write')}</strong>
          <code class="plan-command">hub.lock.json</code>
        </li>
        {plan.removes?.map((path) => (
          <li key={path}>
            <strong>Remove</strong>
            <code class="plan-command">{path}</code>
          </li>
        ))}
      </ol>
    </>
  );
}

function Artifact({ step, command, reason, fault, warning, alternative }: PlannedArtifact) {
  if (alternative) {
    return (
      <li class="plan-alternative">
        <span>Alternative, not installed</span>
        <code class="plan-command">{command}</code>
      </li>
    );
  }
  return (
    <li>
      <strong>{stepName(step)}</strong>
      {fault === undefined && <code class="plan-command">{command}</code>}
      <span class="quiet">{reason}</span>
      {warning !== undefined && <span class="reason reason-warn">{warning}</span>}
      <Fault fault={fault} />
    </li>
  );
}

function Adapter({ framework, template_key, path, generic, fault, warning, note }: PlannedAdapter) {
  return (
    <li>
      <strong>
        {note === undefined ? 'Write the' : 'No'} adapter for {framework} ({template_key})
      </strong>
      {note === undefined && <code class="plan-command">{path}</code>}
      {note !== undefined && <span class="quiet">{note}</span>}
      {generic && <span class="quiet">This adapter has no template, so a generic description is written.</span>}
      {warning !== undefined && <span class="reason reason-warn">{warning}</span>}
      <Fault fault={fault} />
    </li>
  );
}

function Registering({ registration }: { registration: InstallPlan['mcp_registration'] }) {
  if (Object.keys(registration).length === 0) return null;
  if (settings.value?.gateway_configured === false) {
    return (
      <li>
        <strong>Not registered</strong>
        <span class="quiet">This hub has no gateway.</span>
      </li>
    );
  }
  const reason = reasonNotForGateway(registration);
  return (
    <li>
      <strong>{reason ? 'Not for the gateway' : stepName('gateway.register')}</strong>
      <span class="quiet">{reason ?? 'If the gateway refuses it, the install still succeeds.'}</span>
    </li>
  );
}

/** A fault that is known before the install. */
function Fault({ fault }: { fault: string | undefined }) {
  return fault === undefined ? null : <span class="reason reason-bad">This will fail: {fault}</span>;
}
