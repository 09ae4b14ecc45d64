// One install: what is asked for, and what it may use.
import type { Launch } from '../catalog/launch/launch.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { World } from '../lib/world.ts';
import type { ArtifactContext } from './artifacts/artifact.ts';
import type { InstallListener, InstallPlan, InstallRequest, Lockfile } from './contract.ts';
import type { InstallSubject } from './subject.ts';

export interface InstallJob {
  request: InstallRequest;
  subject: InstallSubject;
  launch: Launch;
  plan: InstallPlan;
  targetDir: string;
  before: { lockfile: Lockfile | undefined; error: unknown };
  signal: AbortSignal;
  onEvent: InstallListener;
}

export interface InstallTools {
  gateway: Pick<Gateway, 'registerOne'>;
  isGatewayConfigured: boolean;
  world: Pick<World, 'run' | 'fetch' | 'download' | 'vetAddress' | 'log' | 'now'>;
  rules: Pick<ArtifactContext, 'allowPrivateNetwork' | 'trust'>;
}
