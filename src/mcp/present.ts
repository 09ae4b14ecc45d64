// What the hub knows of an entity, short enough for a model's context, and without credentials.
import type { EntityRecord } from '../catalog/contract.ts';
import { gatewayLine, gatewayState } from '../gateway/state-words.ts';
import type { SearchItem } from '../search/contract.ts';
import { shortText, shownJson } from './short.ts';

const LONGEST_SUMMARY = 240;
const LONGEST_DESCRIPTION = 1_500;
const MOST_VERSIONS = 10;
const MOST_TAGS = 15;

export function shownItem(item: SearchItem): Record<string, unknown> {
  const { id, type, name, title, version, status, score_final: score, fit_reason: why } = item;
  const summary = shortText(item.summary, LONGEST_SUMMARY);
  return { id, type, name, title, version, status, summary, score, ...(why ? { why: shortText(why) } : {}) };
}

export function itemLine({ id, title, name, summary, status, fit_reason }: SearchItem, position: number): string {
  const note = status === 'active' ? '' : ` [${status}]`;
  const why = fit_reason ? `\n   ${shortText(fit_reason)}` : '';
  return `${position}. ${id}${note}: ${title ?? name}. ${shortText(summary, LONGEST_SUMMARY)}${why}`;
}

export function shownEntity(entity: EntityRecord): Record<string, unknown> {
  const { id, type, name, title, version, status, license, homepage, links } = entity;
  const { capabilities, frameworks, providers, gateway_registered_at, gateway_error } = entity;
  const artifacts = entity.artifacts.map(({ kind, spec }) => ({ kind, spec }));
  const adapters = entity.adapters.map(({ framework, template_key }) => ({ framework, template_key }));
  const server = serverOf(entity.mcp_registration);
  return {
    ...{ id, type, name, title, version, status },
    summary: shortText(entity.summary),
    description: shortText(entity.description, LONGEST_DESCRIPTION),
    tags: entity.tags.slice(0, MOST_TAGS),
    ...shownJson({ license, homepage, links, artifacts, adapters, server }),
    ...shownJson({ capabilities, frameworks, providers, gateway_registered_at, gateway_error }),
    score_quality: entity.score_quality,
    versions: entity.versions.slice(0, MOST_VERSIONS).map((each) => each.version),
    version_count: entity.versions.length,
    published_at: entity.published_at,
  };
}

export function entityText(entity: EntityRecord): string {
  const { id, title, name, summary, license, artifacts, versions } = entity;
  const kinds = artifacts.map(({ kind }) => String(kind)).join(', ');
  const gateway = gatewayText(entity);
  return [
    `${title ?? name} (${id})`,
    shortText(summary),
    kinds ? `Installs: ${shortText(kinds)}.` : 'Nothing to install: it is used where it runs.',
    license ? `License: ${shortText(license)}.` : 'License: not stated.',
    `${versions.length} version${versions.length === 1 ? '' : 's'}.`,
    ...(gateway ? [`Gateway: ${gateway}.`] : []),
  ].join('\n');
}

/** Undefined when the gateway was never told of it. */
export function gatewayText(entity: Pick<EntityRecord, 'gateway_registered_at' | 'gateway_error'>): string | undefined {
  if (!entity.gateway_registered_at && !entity.gateway_error) return undefined;
  const gateway_error = entity.gateway_error && shortText(entity.gateway_error).replace(/\.$/, '');
  return gatewayLine(gatewayState({ ...entity, gateway_error }));
}

/** Only where it is and how it is spoken to. */
function serverOf(registration: Record<string, unknown> | null): Record<string, unknown> | null {
  const server = registration?.server;
  if (typeof server !== 'object' || server === null) return null;
  const { url, transport } = server as Record<string, unknown>;
  return {
    url: typeof url === 'string' ? url : null,
    transport: typeof transport === 'string' ? transport : null,
  };
}
