// The texts of the status tiles.
import type { Diagnosis, Health, PublicConfig } from '../../../../src/hub/operations.ts';
import type { HubFailure } from '../../api/failure.ts';

export type HealthAnswer = Health | { failure: HubFailure } | 'asked';

export interface TileWords {
  value: string;
  note: string;
  tone?: 'plain' | 'good' | 'bad';
}

const ENGINES: Record<PublicConfig['database'], string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

export function hubTile(health: HealthAnswer): TileWords {
  if (health === 'asked') return { value: '…', note: 'checking' };
  if ('failure' in health) {
    const { kind, message } = health.failure;
    if (kind === 'unreachable') return { value: 'Unreachable', note: 'retrying', tone: 'bad' };
    return { value: 'Unhealthy', note: message, tone: 'bad' };
  }
  const note = `version ${health.version}`;
  if (health.status === 'ok') return { value: 'Healthy', note, tone: 'good' };
  return { value: 'Unhealthy', note, tone: 'bad' };
}

export function databaseTile(health: HealthAnswer, settings: PublicConfig | undefined): TileWords {
  const note = settings ? ENGINES[settings.database] : '';
  const state = health === 'asked' || 'failure' in health ? undefined : health.db;
  if (state === 'ok') return { value: 'Connected', note, tone: 'good' };
  if (state === 'error') return { value: 'Unreachable', note, tone: 'bad' };
  return { value: health === 'asked' ? '…' : 'Unknown', note };
}

export type GatewayTrial = Diagnosis['gateway'] | { failure: HubFailure } | 'not tried' | 'being tried';

export function gatewayTile(settings: PublicConfig | undefined, trial: GatewayTrial): TileWords {
  if (!settings) return { value: 'Unknown', note: 'MCP_GATEWAY_URL' };
  if (!settings.gateway_configured) return { value: 'Not configured', note: 'set MCP_GATEWAY_URL' };
  if (trial === 'not tried') return { value: 'Configured', note: 'only operators can check it' };
  if (trial === 'being tried') return { value: 'Configured', note: 'checking…' };
  if ('failure' in trial) return { value: 'Unknown', note: `The check failed. ${trial.failure.message}`, tone: 'bad' };
  switch (trial.outcome) {
    case 'ok':
      return {
        value: 'Connected',
        note: trial.version ? `version ${trial.version}` : 'token accepted',
        tone: 'good',
      };
    case 'not configured':
      return { value: 'Not configured', note: 'set MCP_GATEWAY_URL' };
    case 'unauthorized':
      return { value: 'Token refused', note: trial.error, tone: 'bad' };
    case 'down':
      return { value: 'Unreachable', note: trial.error, tone: 'bad' };
  }
}
