// Builds the list of install steps from events.
import type { InstallEvent, StepResult } from '../../../src/install/contract.ts';

export interface ShownStep {
  step: string;
  startedAt: number;
  /** Absent while the step runs. */
  result?: StepResult;
}

export function withEvent(steps: readonly ShownStep[], event: InstallEvent, now: number): ShownStep[] {
  if (event.kind === 'started') return [...steps, { step: event.step, startedAt: now }];
  if (event.kind === 'plan') return [...steps];
  // Several steps may have the same name; the first one still running has ended.
  const at = steps.findIndex(({ step, result }) => step === event.result.step && !result);
  if (at < 0) return [...steps, { step: event.result.step, startedAt: now, result: event.result }];
  return steps.map((step, index) => (index === at ? { ...step, result: event.result } : step));
}
