// Presents an entity to a model: short, without credentials, and without publisher text at the start of a line.
import { artifactLine } from '../../catalog/artifact-kind.ts';
import type { EntityRecord } from '../../catalog/contract.ts';
import { gatewayLine, gatewayState } from '../../gateway/state-words.ts';
import type { EntityDetails } from '../../hub/entity-details.ts';
import type { SearchItem } from '../../search/contract.ts';
import { oneLine } from './line.ts';
import { MOST_TEXT_CHARS, type Shortened, shortened, shortLines, shortText } from './short.ts';

const LONGEST_TITLE = 120;
const LONGEST_SUMMARY = 240;
const LONGEST_DESCRIPTION = 1_500;
const LONGEST_FACT = 240;
const MOST_ARTIFACT_CHARS = 1_500;
const LONGEST_LIST = 1_000;
const MOST_VERSIONS = 10;

export function shownItem(item: SearchItem): Record<string, unknown> {
  const { id, type, version, status, score_final: score, fit_reason: why } = item;
  const name = shortText(item.name, LONGEST_TITLE);
  const title = item.title && shortText(item.title, LONGEST_TITLE);
  const summary = shortText(item.summary, LONGEST_SUMMARY);
  const reason = why ? { why: shortText(why, LONGEST_SUMMARY) } : {};
  return { id, type, name, title, version, status, summary, score, ...reason };
}

export function itemLine({ id, title, name, summary, status, fit_reason }: SearchItem, position: number): string {
  const note = status === 'active' ? '' : ` [${status}]`;
  const why = fit_reason ? `\n   Why: ${shortText(fit_reason, LONGEST_SUMMARY)}` : '';
  const called = shortText(title ?? name, LONGEST_TITLE);
  return `${position}. ${oneLine(id)}${note}: ${called}. ${shortText(summary, LONGEST_SUMMARY)}${why}`;
}

export function shownEntity(entity: EntityRecord, { tools, variables }: EntityDetails): Shortened {
  const { id, type, name, title, version, status, license, homepage, links } = entity;
  const { capabilities, frameworks, providers, gateway_registered_at, gateway_error } = entity;
  const artifacts = entity.artifacts.map(({ kind, spec }) => ({ kind, spec }));
  const adapters = entity.adapters.map(({ framework, template_key }) => ({ framework, template_key }));
  const server = serverOf(entity.mcp_registration);
  return shortened(
    {
      ...{ id, type, name, title, version, status },
      ...{ summary: entity.summary, description: entity.description, tags: entity.tags },
      ...{ license, homepage, links, artifacts, adapters, server },
      ...{ tools, variables },
      ...{ capabilities, frameworks, providers, gateway_registered_at, gateway_error },
      score_quality: entity.score_quality,
      versions: entity.versions.slice(0, MOST_VERSIONS).map((each) => each.version),
      version_count: entity.versions.length,
      published_at: entity.published_at,
      ...{ missing_since: entity.missing_since, changed_at: entity.changed_at, remote: entity.remote },
      ...{ blocked_at: entity.blocked_at, blocked_reason: entity.blocked_reason },
      ...{ hidden_by: entity.hidden_by, held_by: entity.held_by, install_refusal: entity.install_refusal },
      ...(entity.trust?.checked_at && { signatures: entity.trust.state }),
    },
    { name: LONGEST_TITLE, title: LONGEST_TITLE, description: LONGEST_DESCRIPTION },
  );
}

/** Where to find what a response has no room for; in an id, only the slash must be encoded. */
export function wholeManifest(id: string): string {
  return `the resource catalog://manifest/${encodeURIComponent(id).replaceAll('%3A', ':').replaceAll('%40', '@')} has all of it.`;
}

/** The facts of `shownEntity` that a model needs to choose and to act, one per line, the most important first. */
export function entityLines(entity: EntityRecord, details: EntityDetails): string[] {
  const { id, title, name, status, license, homepage, versions } = entity;
  const lines = [
    `${oneLine(id)}: ${shortText(title ?? name, LONGEST_TITLE)}`,
    `Summary: ${shortText(entity.summary, LONGEST_SUMMARY)}`,
    ...stateLines(entity),
    ...fact('Description', entity.description, LONGEST_DESCRIPTION),
    ...fact('Status', status === 'active' ? '' : status),
    ...artifactLines(entity),
    ...fact('Server', serverText(entity)),
    ...fact('Tools', namesOf(details.tools), LONGEST_LIST),
    ...fact('Variables to set', namesOf(details.variables), LONGEST_LIST),
    ...fact('Adapters', details.adapters.join(', ')),
    ...fact('License', license ?? 'not specified'),
    ...fact('Homepage', homepage ?? ''),
    ...fact('Tags', entity.tags.join(', ')),
    ...fact('Capabilities', entity.capabilities.join(', ')),
    ...fact('Frameworks', entity.frameworks.join(', ')),
    ...fact('Providers', entity.providers.join(', ')),
    `Quality: ${Math.round(entity.score_quality * 100)} of 100.`,
    ...fact(
      versions.length === 1 ? '1 version' : `${versions.length} versions`,
      versions
        .slice(0, MOST_VERSIONS)
        .map((each) => each.version)
        .join(', '),
    ),
  ];
  return shortLines(lines, { room: MOST_TEXT_CHARS });
}

function fact(label: string, text: string, most = LONGEST_FACT): string[] {
  const shown = shortText(text, most);
  return shown ? [`${label}: ${shown}`] : [];
}

function artifactLines({ artifacts }: EntityRecord): string[] {
  if (artifacts.length === 0) return ['It lists no artifacts to install.'];
  const lines = artifacts.map((each) => `Artifact: ${shortText(artifactLine(each), LONGEST_FACT)}`);
  return shortLines(lines, { room: MOST_ARTIFACT_CHARS });
}

function namesOf(parts: readonly { name: string }[]): string {
  return parts.map(({ name }) => name).join(', ');
}

/** What an operator, a policy or a check says about it. */
function stateLines(entity: EntityRecord): string[] {
  const gateway = gatewayText(entity);
  return [
    ...(entity.install_refusal ? [`Cannot be installed: ${shortText(entity.install_refusal)}`] : []),
    ...(entity.blocked_at ? [`Blocked by an operator${reasonOf(entity)}.`] : []),
    ...(entity.missing_since ? ['No remote lists it.'] : []),
    ...(entity.trust?.checked_at ? [`Signatures: ${entity.trust.state.replace('_', ' ')}.`] : []),
    ...(gateway ? [`Gateway: ${gateway}.`] : []),
    ...(entity.hidden_by ? [`Hidden from search by ${shortText(entity.hidden_by)}.`] : []),
    ...(entity.held_by ? [`Kept out of the gateway by ${shortText(entity.held_by)}.`] : []),
  ];
}

function reasonOf({ blocked_reason: reason }: EntityRecord): string {
  return reason ? `: ${shortText(reason).replace(/\.$/, '')}` : '';
}

/** Undefined if it was never sent to the gateway. */
export function gatewayText(entity: Pick<EntityRecord, 'gateway_registered_at' | 'gateway_error'>): string | undefined {
  if (!entity.gateway_registered_at && !entity.gateway_error) return undefined;
  const gateway_error = entity.gateway_error && shortText(entity.gateway_error).replace(/\.$/, '');
  return gatewayLine(gatewayState({ ...entity, gateway_error }));
}

/** Only its address and transport. */
function serverOf(registration: Record<string, unknown> | null): Record<string, unknown> | null {
  const server = registration?.server;
  if (typeof server !== 'object' || server === null) return null;
  const { url, transport } = server as Record<string, unknown>;
  return {
    url: typeof url === 'string' ? url : null,
    transport: typeof transport === 'string' ? transport : null,
  };
}

function serverText({ mcp_registration }: EntityRecord): string {
  return Object.values(serverOf(mcp_registration) ?? {})
    .filter(Boolean)
    .join(', ');
}
