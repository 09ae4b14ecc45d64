// Runs one step of an install: measures its time, and turns an exception into a failed result.
import type { Logger } from '../lib/world.ts';
import type { InstallListener, StepResult } from './contract.ts';
import { explain, InstallError, isUnexpected } from './errors.ts';

type Extra = Record<string, unknown>;

export interface StepOutcome<T> {
  ok?: boolean;
  extra?: Extra;
  value?: T;
}

export interface StepWatch {
  onEvent: InstallListener;
  log: Logger;
}

/** If `work` throws, the step fails and has no value. */
export async function runStep<T>(
  step: string,
  { onEvent, log }: StepWatch,
  work: () => Promise<StepOutcome<T>>,
): Promise<{ result: StepResult; value: T | undefined }> {
  onEvent({ kind: 'started', step });
  const start = performance.now();
  const outcome = await work().catch((error: unknown): StepOutcome<T> => {
    if (isUnexpected(error)) log.error({ error, step }, `The step ${step} of an install failed`);
    return { ok: false, extra: { error: explain(error), ...(error instanceof InstallError ? error.extra : {}) } };
  });
  const { ok = true, extra, value } = outcome;
  const elapsed_secs = Math.round(performance.now() - start) / 1000;
  const result = { step, ok, elapsed_secs, ...(extra ? { extra } : {}) };
  onEvent({ kind: 'finished', result });
  return { result, value };
}

export function present(extra: Extra): Extra {
  const isEmpty = (value: unknown) => value == null || value === '' || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(extra).filter(([, value]) => !isEmpty(value)));
}
