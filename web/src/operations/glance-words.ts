// What is said about the hub's health: no more than is known.
import type { Diagnosis, Health, PublicConfig } from '../../../src/hub-operations.ts';
import type { HubFailure } from '../api/failure.ts';

export type HealthAnswer = Health | { failure: HubFailure } | 'asked';

export interface TileWords {
  value: string;
  note: string;
  tone?: 'plain' | 'good' | 'bad';
}

const ENGINES: Record<PublicConfig['database'], string> = { sqlite: 'SQLite', postgres: 'PostgreSQL' };

export function hubTile(health: HealthAnswer): TileWords {
  if (health === 'asked') return { value: '…', note: 'being asked' };
  if ('failure' in health) {
    const { kind, message } = health.failure;
    if (kind === 'unreachable') return { value: 'No answer', note: 'is asked again by itself', tone: 'bad' };
    return { value: 'In trouble', note: message, tone: 'bad' };
  }
  const note = `version ${health.version}`;
  if (health.status === 'ok') return { value: 'Well', note, tone: 'good' };
  return { value: 'In trouble', note, tone: 'bad' };
}

export function databaseTile(health: HealthAnswer, settings: PublicConfig | undefined): TileWords {
  const note = settings ? ENGINES[settings.database] : '';
  const state = health === 'asked' || 'failure' in health ? undefined : health.db;
  if (state === 'ok') return { value: 'Answers', note, tone: 'good' };
  if (state === 'error') return { value: 'Does not answer', note, tone: 'bad' };
  return { value: health === 'asked' ? '…' : 'Not known', note };
}

export type GatewayTrial = Diagnosis['gateway'] | { failure: HubFailure } | 'not tried' | 'being tried';

export function gatewayTile(settings: PublicConfig | undefined, trial: GatewayTrial): TileWords {
  if (!settings) return { value: 'Not known', note: 'MCP_GATEWAY_URL' };
  if (!settings.gateway_configured) return { value: 'None', note: 'MCP_GATEWAY_URL is not set' };
  if (trial === 'not tried') return { value: 'Configured', note: 'tried once the token is there' };
  if (trial === 'being tried') return { value: 'Configured', note: 'being tried …' };
  if ('failure' in trial)
    return { value: 'Not known', note: `It could not be tried. ${trial.failure.message}`, tone: 'bad' };
  switch (trial.outcome) {
    case 'ok':
      return {
        value: 'Answers',
        note: trial.version ? `version ${trial.version}` : 'and takes the token',
        tone: 'good',
      };
    case 'not configured':
      return { value: 'None', note: 'MCP_GATEWAY_URL is not set' };
    case 'unauthorized':
      return { value: 'Refuses the token', note: trial.error, tone: 'bad' };
    case 'down':
      return { value: 'Does not answer', note: trial.error, tone: 'bad' };
  }
}
