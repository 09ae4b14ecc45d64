// Agentic Resource Discovery: serves the registry's servers to ARD clients, versions 0.9 and 0.91.
import { HubError, invalidRequest } from '../../errors.ts';
import type { Ard, ArdQuery, FoundArdEntry } from '../contract.ts';
import type { RankedServer } from '../registry.ts';
import type { RegistryEntry, RegistryStore } from '../store.ts';
import type { ArdAgents } from './ard-agents.ts';
import { ardEntry, ardManifest, isIdentifier, serverCard, serverNameOf } from './ard-entry.ts';
import { filterOf, type Listed, readListFilter, valuesAt } from './ard-filter.ts';
import { createSnapshot } from './snapshot.ts';

export interface ArdDependencies {
  store: RegistryStore;
  /** Resolves to the revision that the entries reflect. */
  upToDate: () => Promise<number>;
  rank: (text: string) => Promise<RankedServer[]>;
  baseUrl: () => string;
  agents: ArdAgents;
}

const LATEST = { version: 'latest', includeDeleted: false };
const ENTRIES_AT_ONCE = 200;

export function createArd({ store, upToDate, rank, baseUrl, agents }: ArdDependencies): Ard {
  const present = (entry: RegistryEntry) => ardEntry(entry, baseUrl());

  async function matches({ text, filter = {} }: ArdQuery, revision: number): Promise<FoundArdEntry[]> {
    const isMatch = filterOf(filter);
    const ranked = await rank(text);
    const scores = new Map(ranked.toReversed().map(({ key, score }) => [key.name, score]));
    const names = [...new Set(ranked.map(({ key }) => key.name))];
    const latest = new Map((await store.keysOf(names, LATEST)).map((key) => [key.name, key]));
    const entries = await store.entries(names.flatMap((name) => latest.get(name) ?? []));
    const source = `${baseUrl()}/ard`;
    const servers = entries.map((entry) => ({ entry: present(entry), score: scores.get(entry.name) ?? 0 }));
    return [...servers, ...(await agents.find(revision, text))]
      .toSorted((one, other) => other.score - one.score)
      .map(({ entry, score }) => ({ ...entry, score: Math.round(100 * score), source }))
      .filter(isMatch);
  }

  /** Cached, because filters and facets need all servers. */
  const allServers = createSnapshot(readAll);

  /** Servers by name, then agents by identifier. */
  async function everything(revision: number): Promise<Listed[]> {
    const [servers, found] = await Promise.all([allServers(revision), agents.find(revision)]);
    const carded = found.map(({ entry: shown }) => ({
      sortKey: shown.identifier,
      publishedAt: shown.updatedAt,
      shown,
    }));
    return [...servers, ...carded.toSorted((one, other) => (one.sortKey < other.sortKey ? -1 : 1))];
  }

  async function readAll(): Promise<Listed[]> {
    const servers: Listed[] = [];
    for (let after = { rank: 0, name: '', version: '' }; ; ) {
      const page = await store.page({ ...LATEST, limit: ENTRIES_AT_ONCE, after });
      for (const entry of page)
        servers.push({ sortKey: entry.name, publishedAt: entry.publishedAt, shown: present(entry) });
      const last = page.at(-1);
      if (!last || page.length < ENTRIES_AT_ONCE) return servers;
      after = { rank: 0, name: last.name, version: last.version };
    }
  }

  return {
    manifest: async () => ardManifest(baseUrl()),
    robots: () => `User-agent: *\nAllow: /\nAgentmap: ${baseUrl()}/.well-known/ard.json\n`,

    async search({ query, pageSize, pageToken }) {
      const all = await matches(query, await upToDate());
      const after =
        pageToken === undefined ? -1 : all.findIndex(({ identifier }) => identifier === readToken(pageToken));
      if (pageToken !== undefined && after < 0)
        throw invalidRequest('pageToken', 'belongs to another query; start without it');
      const results = all.slice(after + 1, after + 1 + pageSize);
      const last = all.length > after + 1 + pageSize ? results.at(-1) : undefined;
      return { results, ...(last ? { pageToken: writeToken(last.identifier) } : {}) };
    },

    async explore({ query = {}, resultType: { facets } }) {
      const revision = await upToDate();
      const { text, filter = {} } = query;
      // A response has one result per field.
      const wanted = [...new Map(facets.map((facet) => [facet.field, facet])).values()];
      const counts = wanted.map((facet) => ({
        ...facet,
        read: valuesAt(facet.field),
        values: new Map<string, number>(),
      }));
      const found = text
        ? await matches({ text, filter }, revision)
        : (await everything(revision)).map(({ shown }) => shown).filter(filterOf(filter));
      for (const { read, values } of counts)
        for (const entry of found) for (const value of read(entry)) values.set(value, (values.get(value) ?? 0) + 1);
      return {
        resultType: 'facets',
        facets: Object.fromEntries(counts.map(({ field, ...facet }) => [field, bucketsOf(facet)])),
      };
    },

    async list({ filter, pageSize, pageToken }) {
      const isMatch = readListFilter(filter);
      const from = pageToken === undefined ? '' : readToken(pageToken);
      const all = await everything(await upToDate());
      const start = all.findIndex(({ sortKey }) => isAfter(sortKey, from));
      const found: Listed[] = [];
      for (let index = start; index >= 0 && index < all.length && found.length <= pageSize; index += 1) {
        const each = all[index];
        if (each && isMatch(each)) found.push(each);
      }
      const items = found.slice(0, pageSize);
      const last = found.length > pageSize ? items.at(-1) : undefined;
      return { items: items.map(({ shown }) => shown), ...(last ? { pageToken: writeToken(last.sortKey) } : {}) };
    },

    async get(identifier) {
      if (!isIdentifier(identifier))
        throw invalidRequest('identifier', 'must have the form urn:air:<domain>:mcp:<name>, or …:agent:<name>');
      const revision = await upToDate();
      const [server] = await store.versions(serverNameOf(identifier) ?? '', LATEST);
      if (server) return present(server);
      const agent = (await agents.find(revision)).find(({ entry }) => entry.identifier === identifier);
      if (!agent) throw new HubError('entity_not_found', `No resource '${identifier.slice(0, 120)}' is in this hub.`);
      return agent.entry;
    },

    async card(uid) {
      await upToDate();
      const key = (await store.serversOf([uid])).get(uid);
      const [entry] = key ? await store.entries([key]) : [];
      if (!entry || entry.status === 'deleted')
        throw new HubError('entity_not_found', `No server '${uid.slice(0, 120)}' is in this registry.`);
      return serverCard(entry, baseUrl());
    },

    agentCard: (uid) => agents.card(uid),
  };
}

function bucketsOf({ values, limit, minCount }: { values: Map<string, number>; limit: number; minCount: number }) {
  const sorted = [...values]
    .filter(([, count]) => count >= minCount)
    .toSorted(([one, left], [other, right]) => right - left || (one < other ? -1 : 1))
    .map(([value, count]) => ({ value, count }));
  const others = sorted.slice(limit).reduce((sum, { count }) => sum + count, 0);
  return { buckets: sorted.slice(0, limit), ...(others > 0 ? { otherCount: others } : {}) };
}

/** Agent identifiers sort after all server names. */
function isAfter(sortKey: string, from: string): boolean {
  const [isAgent, wasAgent] = [sortKey.startsWith('urn:'), from.startsWith('urn:')];
  return isAgent === wasAgent ? sortKey > from : isAgent;
}

function writeToken(text: string): string {
  return Buffer.from(text).toString('base64url');
}

/** Returns a server name or an identifier. @throws HubError `invalid_request` */
function readToken(token: string): string {
  const text = Buffer.from(token, 'base64url').toString();
  if (!/^(urn:|[\w.-]+\/)/.test(text) || writeToken(text) !== token)
    throw invalidRequest('pageToken', 'was not issued by this hub; start without it');
  return text;
}
