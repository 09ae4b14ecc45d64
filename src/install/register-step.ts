// The step that registers what was installed into the gateway; its failure does not fail the install.
import type { Gateway } from '../gateway/gateway.ts';
import { reasonNotForGateway } from '../gateway/state-words.ts';
import type { StepResult } from './contract.ts';
import { runStep, type StepWatch } from './step.ts';
import type { InstallSubject } from './subject.ts';

export const REGISTER_STEP = 'gateway.register';

export interface RegisterJob {
  gateway: Pick<Gateway, 'registerOne'>;
  isGatewayConfigured: boolean;
  subject: InstallSubject;
  signal: AbortSignal;
}

export async function registerStep(watch: StepWatch, job: RegisterJob): Promise<StepResult> {
  const { result } = await runStep(REGISTER_STEP, watch, async () => {
    const reason = reasonToSkip(job);
    if (reason) return { extra: { skipped: true, reason }, value: undefined };
    const registration = await job.gateway.registerOne(job.subject.uid, job.signal);
    if (!registration)
      return {
        extra: { skipped: true, reason: `Entities of the type ${job.subject.type} are not registered.` },
        value: undefined,
      };
    const { outcome, calls } = registration;
    if (registration.outcome === 'registered')
      return { extra: { outcome, name: registration.name, calls }, value: undefined };
    return { ok: false, extra: { outcome, error: registration.error, calls }, value: undefined };
  });
  return result;
}

function reasonToSkip({ subject, isGatewayConfigured, signal }: RegisterJob): string | undefined {
  const registration = subject.mcpRegistration ?? {};
  if (Object.keys(registration).length === 0)
    return 'The manifest has no mcp_registration: there is nothing to register.';
  if (!isGatewayConfigured) {
    const lack = reasonNotForGateway(registration);
    return lack ? `Not for the gateway: ${lack}` : 'No gateway is configured (MCP_GATEWAY_URL).';
  }
  if (!subject.isInCatalog) return 'It is not in the catalog, and only what the catalog has is registered.';
  return signal.aborted ? 'The hub is shutting down; the next sync registers it.' : undefined;
}
