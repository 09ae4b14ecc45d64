// What is said about the hub's health: no more than is known.
import type { Health, PublicConfig } from '../../../src/hub-operations.ts';
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

export function gatewayTile(settings: PublicConfig | undefined): TileWords {
  const note = 'MCP_GATEWAY_URL';
  if (!settings) return { value: 'Not known', note };
  return { value: settings.gateway_configured ? 'Configured' : 'None', note };
}
