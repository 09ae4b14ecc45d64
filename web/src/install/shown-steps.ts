// The steps of an install, as its events tell of them.
import type { InstallEvent, StepResult } from '../../../src/install/contract.ts';

export interface ShownStep {
  step: string;
  startedAt: number;
  /** Not there while it runs. */
  result?: StepResult;
}

export function withEvent(steps: readonly ShownStep[], event: InstallEvent, now: number): ShownStep[] {
  if (event.kind === 'started') return [...steps, { step: event.step, startedAt: now }];
  if (event.kind === 'plan') return [...steps];
  // Steps of one name may follow each other; the first that still runs is the one that ended.
  const at = steps.findIndex(({ step, result }) => step === event.result.step && !result);
  if (at < 0) return [...steps, { step: event.result.step, startedAt: now, result: event.result }];
  return steps.map((step, place) => (place === at ? { ...step, result: event.result } : step));
}
