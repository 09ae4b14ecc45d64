// One install as the dialog shows it: plan, steps as they happen, report.
import { type Signal, signal } from '@preact/signals';
import type { InstallEvent, InstallPlan, InstallReport, StepResult } from '../../../src/install/contract.ts';
import { hub } from '../api/hub.ts';
import { asFailure, type HubFailure } from '../api/problem.ts';

export interface ShownStep {
  step: string;
  startedAt: number;
  /** Not there while it runs. */
  result?: StepResult;
}

export type Stage =
  | { name: 'target' }
  | { name: 'planning' }
  | { name: 'planned'; plan: InstallPlan; target: string }
  | { name: 'running'; steps: ShownStep[] }
  | { name: 'done'; report: InstallReport };

export interface InstallRun {
  stage: Signal<Stage>;
  failure: Signal<HubFailure | undefined>;
  plan(target: string): Promise<void>;
  install(target: string): Promise<void>;
  back(): void;
}

export function createInstallRun(id: string): InstallRun {
  const stage = signal<Stage>({ name: 'target' });
  const failure = signal<HubFailure | undefined>(undefined);

  /** A failure leads back to where it can be mended. */
  async function attempt(next: Stage, work: () => Promise<Stage>): Promise<void> {
    const before = stage.value;
    failure.value = undefined;
    stage.value = next;
    try {
      stage.value = await work();
    } catch (error) {
      failure.value = asFailure(error);
      stage.value = before;
    }
  }

  return {
    stage,
    failure,
    plan: (target) =>
      attempt({ name: 'planning' }, async () => {
        const report = await hub.planInstall({ id, target });
        return { name: 'planned', plan: report.plan, target: report.target };
      }),
    install: (target) =>
      attempt({ name: 'running', steps: [] }, async () => {
        const report = await hub.install({ id, target }, (event) => {
          const { value } = stage;
          if (value.name === 'running') stage.value = { name: 'running', steps: withEvent(value.steps, event) };
        });
        return { name: 'done', report };
      }),
    back() {
      stage.value = { name: 'target' };
    },
  };
}

export function withEvent(steps: readonly ShownStep[], event: InstallEvent, now = performance.now()): ShownStep[] {
  if (event.kind === 'started') return [...steps, { step: event.step, startedAt: now }];
  if (event.kind === 'plan') return [...steps];
  // Steps of one name may follow each other; the first that still runs is the one that ended.
  const at = steps.findIndex(({ step, result }) => step === event.result.step && !result);
  if (at < 0) return [...steps, { step: event.result.step, startedAt: now, result: event.result }];
  return steps.map((step, place) => (place === at ? { ...step, result: event.result } : step));
}
