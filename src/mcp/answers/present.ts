// Presents search results and entities to a model: short, and without credentials.
import type { EntityRecord } from '../../catalog/contract.ts';
import type { EntityDetails } from '../../hub/entity-details.ts';
import { asObject } from '../../lib/json.ts';
import type { SearchItem } from '../../search/contract.ts';
import { type Shortened, shortened, shortText } from './short.ts';

const LONGEST_TITLE = 120;
const LONGEST_SUMMARY = 240;
const LONGEST_DESCRIPTION = 1_500;
const MOST_VERSIONS = 10;

export function shownItem(item: SearchItem): Record<string, unknown> {
  const { id, type, version, status, score_final: score, fit_reason: why } = item;
  const name = shortText(item.name, LONGEST_TITLE);
  const title = item.title && shortText(item.title, LONGEST_TITLE);
  const summary = shortText(item.summary, LONGEST_SUMMARY);
  const reason = why ? { why: shortText(why, LONGEST_SUMMARY) } : {};
  return { id, type, name, title, version, status, summary, score, ...reason };
}

/** The most important members first, because the last ones are left out if the response gets too long. */
export function shownEntity(entity: EntityRecord, details: EntityDetails): Shortened {
  const { artifacts, command, tools, variables } = details;
  const { id, type, name, title, version, status, license, homepage, links } = entity;
  const { capabilities, frameworks, providers, gateway_registered_at, gateway_error } = entity;
  return shortened(
    {
      ...{ id, type, name, title, version, status, summary: entity.summary },
      ...{ install_refusal: entity.install_refusal, hidden_by: entity.hidden_by, held_by: entity.held_by },
      ...{
        blocked_at: entity.blocked_at,
        blocked_reason: entity.blocked_reason,
        missing_since: entity.missing_since,
        missing_reason: entity.missing_reason,
      },
      ...(entity.trust?.checked_at && { signatures: entity.trust.state }),
      ...{ gateway_registered_at, gateway_error },
      description: entity.description,
      artifacts: artifacts.map(({ kind, spec }) => ({ kind, spec })),
      ...(command !== null && { command }),
      server: serverOf(entity.mcp_registration),
      ...{ tools, variables },
      adapters: entity.adapters.map(({ framework, template_key }) => ({ framework, template_key })),
      ...{ license, homepage, tags: entity.tags, capabilities, frameworks, providers, links },
      score_quality: entity.score_quality,
      versions: entity.versions.slice(0, MOST_VERSIONS).map((each) => each.version),
      version_count: entity.versions.length,
      ...{ published_at: entity.published_at, changed_at: entity.changed_at, remote: entity.remote },
    },
    { name: LONGEST_TITLE, title: LONGEST_TITLE, description: LONGEST_DESCRIPTION },
  );
}

/** Where to find what a response has no room for; in an id, only the slash must be encoded. */
export function wholeManifest(id: string): string {
  return `the resource catalog://manifest/${encodeURIComponent(id).replaceAll('%3A', ':').replaceAll('%40', '@')} has all of it.`;
}

/** Only its address and transport. */
function serverOf(registration: EntityRecord['mcp_registration']): Record<string, unknown> | null {
  if (registration?.server === undefined) return null;
  const { url, transport } = asObject(registration.server);
  return {
    url: typeof url === 'string' ? url : null,
    transport: typeof transport === 'string' ? transport : null,
  };
}
