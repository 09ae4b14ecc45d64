// One install as the dialog shows it: plan, steps as they happen, report.
import { type Signal, signal } from '@preact/signals';
import type { InstallPlan, InstallReport } from '../../../src/install/contract.ts';
import { hub } from '../api/hub.ts';
import { asFailure, type HubFailure } from '../api/problem.ts';
import { type ShownStep, withEvent } from './shown-steps.ts';

type Stage =
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
          if (value.name === 'running')
            stage.value = { name: 'running', steps: withEvent(value.steps, event, performance.now()) };
        });
        return { name: 'done', report };
      }),
    back() {
      stage.value = { name: 'target' };
    },
  };
}
