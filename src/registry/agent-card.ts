// Agent cards of A2A (Agent2Agent), versions 1.0 and 0.3: a card → a manifest, and the card of a manifest.
import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../lib/json.ts';
import { reversedHost } from './present-entry.ts';

const LONGEST_SLUG = 80;

/** Manifests have a type, and servers of registries have no skills. */
export function isAgentCard(document: unknown): document is JsonObject {
  return isJsonObject(document) && document.type === undefined && document.id === undefined && isWhole(document);
}

/** What both versions demand of a card, and an address that agents can be reached at. */
function isWhole(card: JsonObject): boolean {
  const hasTexts = [card.name, card.description, card.version].every((each) => asText(each) !== undefined);
  const hasModes = [card.defaultInputModes, card.defaultOutputModes].every(Array.isArray);
  const skills = asObjects(card.skills);
  const areSkills = skills.every(
    ({ id, name, description, tags }) =>
      [asText(id), asText(name), asText(description)].every(Boolean) && Array.isArray(tags),
  );
  return (
    hasTexts &&
    hasModes &&
    isJsonObject(card.capabilities) &&
    Array.isArray(card.skills) &&
    areSkills &&
    addressOf(card) !== undefined
  );
}

/** The address of the agent, not of its card. */
export function addressOf(card: JsonObject): string | undefined {
  const interfaces = asObjects(card.supportedInterfaces).map(({ url }) => asText(url));
  return [...interfaces, asText(card.url)].find(
    (url) => url !== undefined && /^https?:\/\//i.test(url) && URL.canParse(url),
  );
}

/** The card stays in the manifest as it came. */
export function manifestFromAgentCard(card: JsonObject): JsonObject {
  const url = addressOf(card) ?? '';
  const skills = asObjects(card.skills);
  const homepage = asText(card.documentationUrl) ?? asText(asObject(card.provider).url);
  const words = (field: string) => [
    ...new Set(skills.flatMap((skill) => [skill[field]].flat()).flatMap((each) => asText(each) ?? [])),
  ];
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

/** The card that a manifest holds; what it leaves out is taken from the manifest. Undefined unless it is a whole card. */
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
  return isWhole(card) ? card : undefined;
}

function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^a-zA-Z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return plain.slice(0, LONGEST_SLUG).toLowerCase() || 'agent';
}
