// Lists agents that have an A2A card as ARD resources.
import type { EntityRecord } from '../../catalog/contract.ts';
import { uidInAddress } from '../../catalog/entity.ts';
import type { EntityUid } from '../../catalog/uid.ts';
import { HubError, unlessNotFound } from '../../errors.ts';
import { asObjects, asTexts, type JsonObject } from '../../lib/json.ts';
import { addressOf, agentCardOf } from '../agent-card.ts';
import { AGENT_CARD_TYPE, type ArdEntry, WELL_KNOWN_CARD } from '../contract.ts';
import { ardWords, publisherOf } from './ard-entry.ts';

interface FoundAgent {
  uid: EntityUid;
  /** 0 to 1. */
  score: number;
}

export interface AgentSource {
  /** The newest version of each agent with a card: those that match the text, or all, up to a limit. */
  find(text?: string): Promise<FoundAgent[]>;
  /** @throws HubError `entity_not_found` */
  get(uid: EntityUid): Promise<Pick<EntityRecord, 'blocked_at' | 'missing_since' | 'hidden_by' | 'updated_at'>>;
  manifest(uid: EntityUid): Promise<{ text: string }>;
}

interface ArdAgent {
  entry: ArdEntry;
  score: number;
}

export interface ArdAgents {
  /** Caches agents until the revision changes. */
  find(revision: number, text?: string): Promise<ArdAgent[]>;
  /** @throws HubError `entity_not_found` */
  card(uid: EntityUid): Promise<JsonObject>;
}

export function createArdAgents(source: AgentSource, baseUrl: () => string): ArdAgents {
  /** @throws HubError `entity_not_found`, also for hidden agents. */
  async function carded(uid: EntityUid): Promise<{ card: JsonObject; document: JsonObject; updatedAt: string }> {
    const { blocked_at, missing_since, hidden_by, updated_at } = await source.get(uid);
    const document = JSON.parse((await source.manifest(uid)).text) as JsonObject;
    const card = agentCardOf(document);
    if (!card || blocked_at || missing_since || hidden_by)
      throw new HubError('entity_not_found', `No agent '${uid.slice(0, 120)}' with a card is in this hub.`);
    return { card, document, updatedAt: updated_at };
  }

  async function entryOf(uid: EntityUid): Promise<ArdEntry | undefined> {
    // The agent may have been removed after it was found.
    const found = await carded(uid).catch(unlessNotFound);
    if (!found) return undefined;
    const { card, ...about } = found;
    return agentEntry(uid, card, { ...about, baseUrl: baseUrl() });
  }

  let known = { revision: -1, entries: new Map<EntityUid, Promise<ArdEntry | undefined>>() };

  function knownEntry(uid: EntityUid, { entries }: typeof known): Promise<ArdEntry | undefined> {
    const before = entries.get(uid);
    if (before) return before;
    const reading = entryOf(uid);
    entries.set(uid, reading);
    reading.catch(() => entries.delete(uid));
    return reading;
  }

  return {
    async find(revision, text) {
      const found = await source.find(text);
      if (known.revision < revision) known = { revision, entries: new Map() };
      const entries = await Promise.all(found.map(({ uid }) => knownEntry(uid, known)));
      return found.flatMap(({ score }, index) => {
        const entry = entries[index];
        return entry ? { score, entry } : [];
      });
    },
    card: async (uid) => (await carded(uid)).card,
  };
}

function agentEntry(
  uid: EntityUid,
  card: JsonObject,
  { document, updatedAt, baseUrl }: { document: JsonObject; updatedAt: string; baseUrl: string },
): ArdEntry {
  const words = {
    tags: asTexts(document.tags),
    capabilities: asTexts(document.capabilities),
    examples: asObjects(card.skills).flatMap((skill) => asTexts(skill.examples)),
  };
  const slug = String(document.id).split('/').at(-1) ?? '';
  return {
    identifier: `urn:air:${publisherOf(addressOf(card) ?? baseUrl)}:agent:${slug.replace(/[^a-zA-Z0-9._-]+/g, '-')}`,
    displayName: String(card.name),
    type: AGENT_CARD_TYPE,
    url: `${baseUrl}/catalog/agent-card/${uidInAddress(uid)}${WELL_KNOWN_CARD}`,
    description: String(card.description),
    ...ardWords(words),
    version: String(card.version),
    updatedAt,
    metadata: {},
  };
}
