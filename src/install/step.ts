// One step of an install: its time, and its failure as a result instead of an exception.
import { RunError } from '../lib/run.ts';
import type { Logger } from '../lib/world.ts';
import { outputEnd } from './artifacts/program.ts';
import type { InstallListener, StepResult } from './contract.ts';
import { InstallError } from './errors.ts';
import { explain, isUnexpected } from './explain.ts';

type Extra = Record<string, unknown>;

export interface StepOutcome<T> {
  result: StepResult;
  /** Undefined when the step failed with an exception. */
  value: T | undefined;
}

export interface StepWatch {
  onEvent: InstallListener;
  log: Logger;
}

/** `work` answers what is told about the step, and whether it succeeded; what it throws is a failure. */
export async function runStep<T>(
  step: string,
  { onEvent, log }: StepWatch,
  work: () => Promise<{ ok?: boolean; extra?: Extra; value: T }>,
): Promise<StepOutcome<T>> {
  onEvent({ kind: 'started', step });
  const start = performance.now();
  const finish = (ok: boolean, extra: Extra | undefined, value: T | undefined): StepOutcome<T> => {
    const elapsed_secs = Math.round(performance.now() - start) / 1000;
    const result = { step, ok, elapsed_secs, ...(extra ? { extra } : {}) };
    onEvent({ kind: 'finished', result });
    return { result, value };
  };
  try {
    const { ok = true, extra, value } = await work();
    return finish(ok, extra, value);
  } catch (error) {
    if (isUnexpected(error)) log.error({ error, step }, `The step ${step} of an install failed`);
    return finish(false, { error: explain(error), ...detail(error) }, undefined);
  }
}

function detail(error: unknown): Extra {
  if (error instanceof InstallError) return error.extra;
  if (error instanceof RunError && error.output !== '') return { output: outputEnd(error.output) };
  return {};
}
