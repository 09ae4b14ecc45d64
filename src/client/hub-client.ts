// The client: everything that callers can ask of a hub, over HTTP.
import { HubError, UnreachableError } from '../errors.ts';
import type { HubOperations } from '../hub-operations.ts';
import type { SearchQuery } from '../search/contract.ts';
import { type SearchWish, searchQuery } from '../search/search-query.ts';
import { type Conversation, createConversation } from './conversation.ts';
import type { HubClientOptions } from './exchange.ts';
import { RefusedError } from './hub-errors.ts';

// Whoever has the package sees this file only.
export type { HubClientOptions, HubOperations, SearchQuery, SearchWish };
export { HubError, RefusedError, searchQuery, UnreachableError };

/** A class, because other people's programs say `new` and `instanceof`; its methods may be passed on by themselves. */
export class HubClient implements HubOperations {
  /** The address it talks to, without a slash at its end. */
  readonly url: string;
  readonly #hub: Conversation;

  /** @throws TypeError when the address or the token cannot be one. */
  constructor(options: HubClientOptions) {
    this.#hub = createConversation(options);
    this.url = this.#hub.url;
  }

  readonly health: HubOperations['health'] = ({ checkDb }) =>
    // A hub whose database does not answer says so with 503.
    this.#hub.ask({ path: '/health', query: { check_db: checkDb } }, ({ ok, status, headers }) => {
      return ok || (status === 503 && /^application\/json\b/.test(headers.get('content-type') ?? ''));
    });

  readonly config: HubOperations['config'] = () => this.#hub.ask({ path: '/config' });

  readonly diagnose: HubOperations['diagnose'] = () => this.#hub.ask({ path: '/diagnostics' });

  readonly listCatalog: HubOperations['listCatalog'] = ({ text, idPrefix, ...query }) =>
    this.#hub.ask({ path: '/catalog', query: { q: text, id_prefix: idPrefix, ...query } });

  readonly search: HubOperations['search'] = (query) =>
    this.#hub.ask({ path: '/catalog/search', query: searchParameters(query) });

  readonly getEntity: HubOperations['getEntity'] = async (id) =>
    this.#hub.ask({ path: `/catalog/entities/${entityPath(id)}` });

  readonly getManifest: HubOperations['getManifest'] = async (id) => {
    const { text, headers } = await this.#hub.askJsonText({ path: `/catalog/manifest/${entityPath(id)}` });
    return { text, digest: /^(?:W\/)?"(.*)"$/.exec(headers.get('etag') ?? '')?.[1] ?? '' };
  };

  readonly install: HubOperations['install'] = (request, onEvent) =>
    this.#hub.follow({ method: 'POST', path: '/catalog/install', body: { ...request } }, onEvent);

  readonly listRemotes: HubOperations['listRemotes'] = () => this.#hub.ask({ path: '/remotes' });

  readonly addRemote: HubOperations['addRemote'] = (url) =>
    this.#hub.ask({ method: 'POST', path: '/remotes', body: { url } });

  readonly removeRemote: HubOperations['removeRemote'] = (url) =>
    this.#hub.ask({ method: 'DELETE', path: '/remotes', body: { url } });

  readonly ingest: HubOperations['ingest'] = (url, onProgress, { acceptShrunk = false } = {}) =>
    this.#hub.follow({ method: 'POST', path: '/ingest', body: { url, accept_shrunk: acceptShrunk } }, onProgress);

  readonly syncRemotes: HubOperations['syncRemotes'] = (onProgress, { force = false } = {}) =>
    this.#hub.follow({ method: 'POST', path: '/remotes/sync', body: { force } }, onProgress);

  readonly ingestStatus: HubOperations['ingestStatus'] = () => this.#hub.ask({ path: '/ingest/status' });

  readonly listRejections: HubOperations['listRejections'] = (query) =>
    this.#hub.ask({ path: '/remotes/rejections', query: { ...query } });

  readonly listPending: HubOperations['listPending'] = ({ text, errorOnly, ...page }) =>
    this.#hub.ask({ path: '/gateways/pending', query: { q: text, error_only: errorOnly, ...page } });

  readonly removePending: HubOperations['removePending'] = async (uid) => {
    const path = pathSegment(uid);
    if (path === undefined) return { removed: false, uid, reason: 'not found' };
    return this.#hub.ask({ method: 'DELETE', path: `/gateways/pending/${path}` });
  };

  readonly removeManyPending: HubOperations['removeManyPending'] = (request) =>
    this.#hub.ask({ method: 'POST', path: '/gateways/pending/delete', body: request });
}

function searchParameters({ text, filters, withFitReason, withSnippets, withFacets, ...query }: SearchQuery) {
  const { includeInactive, includePending, ...lists } = filters;
  return {
    ...{ q: text, ...lists, ...query },
    include_inactive: includeInactive,
    include_pending: includePending,
    with_rag: withFitReason,
    with_snippets: withSnippets,
    facets: withFacets,
  };
}

function entityPath(id: string): string {
  const path = pathSegment(id);
  if (path === undefined) throw new HubError('entity_not_found', `No entity '${id}' is in the catalog.`);
  return path;
}

/** Undefined for what cannot be a part of an address; such things are no ids either. */
function pathSegment(id: string): string | undefined {
  return /^\.{0,2}$/.test(id) ? undefined : encodeURIComponent(id.toWellFormed());
}
