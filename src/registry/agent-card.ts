// A2A (Agent2Agent) agent cards, versions 1.0 and 0.3: converts a card to a manifest and back.
import type { InputFault } from '../errors.ts';
import { asObject, asObjects, asText, asTexts, isJsonObject, type JsonObject } from '../lib/json.ts';
import { reversedHost } from './present-entry.ts';

const LONGEST_SLUG = 80;

export function isAgentCard(document: unknown): document is JsonObject {
  return seemsAgentCard(document) && cardFaults(document).length === 0;
}

/** Manifests have a type, and registry servers have no skills. */
export function seemsAgentCard(document: unknown): document is JsonObject {
  return (
    isJsonObject(document) && document.type === undefined && document.id === undefined && document.skills !== undefined
  );
}

/** Checks the fields that both versions require, and that the agent has an address. */
export function cardFaults(card: JsonObject): InputFault[] {
  const areTexts = (owner: JsonObject, names: readonly string[], at = '') =>
    names
      .filter((name) => asText(owner[name]) === undefined)
      .map((name) => ({ path: `${at}${name}`, message: 'must be a non-empty text' }));
  const areLists = (owner: JsonObject, names: readonly string[], at = '') =>
    names
      .filter((name) => !Array.isArray(owner[name]))
      .map((name) => ({ path: `${at}${name}`, message: 'must be a list' }));
  return [
    ...areTexts(card, ['name', 'description', 'version']),
    ...(isJsonObject(card.capabilities) ? [] : [{ path: 'capabilities', message: 'must be an object' }]),
    ...areLists(card, ['defaultInputModes', 'defaultOutputModes', 'skills']),
    ...asObjects(card.skills).flatMap((skill, index) => [
      ...areTexts(skill, ['id', 'name', 'description'], `skills[${index}].`),
      ...areLists(skill, ['tags'], `skills[${index}].`),
    ]),
    ...(addressOf(card)
      ? []
      : [{ path: 'supportedInterfaces', message: 'must have the url of the agent, with https' }]),
  ];
}

/** The address of the agent, not of its card. */
export function addressOf(card: JsonObject): string | undefined {
  const interfaces = asObjects(card.supportedInterfaces).map(({ url }) => asText(url));
  return [...interfaces, asText(card.url)].find(
    (url) => url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url),
  );
}

/** Keeps the card unchanged in the manifest. */
export function manifestFromAgentCard(card: JsonObject): JsonObject {
  const url = addressOf(card) ?? '';
  const skills = asObjects(card.skills);
  const homepage = asText(card.documentationUrl) ?? asText(asObject(card.provider).url);
  const words = (field: string) => [...new Set(skills.flatMap((skill) => asTexts(skill[field])))];
  return {
    schema_version: 1,
    type: 'agent',
    id: `${reversedHost(url)}/${slugOf(String(card.name))}`,
    name: card.name,
    version: card.version,
    description: card.description,
    ...(homepage ? { homepage } : {}),
    capabilities: words('name'),
    tags: words('tags'),
    examples: words('examples'),
    provenance: { source: 'a2a-card' },
    mcp_registration: { server: { transport: 'A2A', url } },
    agent_card: card,
  };
}

/** The card in a manifest, completed from the manifest. Returns undefined unless the card is complete. */
export function agentCardOf({
  type,
  name,
  title,
  description,
  version,
  agent_card,
}: JsonObject): JsonObject | undefined {
  if (type !== 'agent' || !isJsonObject(agent_card)) return undefined;
  const card = { name: asText(title) ?? name, description, version, ...agent_card };
  return cardFaults(card).length === 0 ? card : undefined;
}

function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^a-zA-Z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain.slice(0, LONGEST_SLUG).toLowerCase() || 'agent';
}
