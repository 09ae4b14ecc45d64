// The client: everything that callers can ask of a hub, over HTTP.
import { HubError } from '../errors.ts';
import type { HubOperations } from '../hub-operations.ts';
import type { SearchQuery } from '../search/contract.ts';
import { readEvents } from './event-stream.ts';
import { createExchange, type HubClientOptions, type HubRequest } from './exchange.ts';
import { type ProblemDocument, RefusedError, UnreachableError } from './hub-errors.ts';

export type { HubClientOptions } from './exchange.ts';
// Whoever has the package sees this file only.
export { HubError, RefusedError, UnreachableError };

export interface HubClient extends HubOperations {
  /** The address it talks to, without a slash at its end. */
  readonly url: string;
}

/** @throws TypeError when the address or the token cannot be one. */
export function createHubClient(options: HubClientOptions): HubClient {
  const exchange = createExchange(options);

  async function ask<T>(request: HubRequest, isAnswer?: (response: Response) => boolean): Promise<T> {
    return readJson<T>(exchange.url, await textOf(request, isAnswer));
  }

  async function textOf(request: HubRequest, isAnswer?: (response: Response) => boolean) {
    const { response, end, fault } = await exchange.send(request, isAnswer);
    try {
      return { text: await response.text(), headers: response.headers };
    } catch (error) {
      throw fault(error);
    } finally {
      end();
    }
  }

  /** Always as a stream, also when nobody listens: a connection that is silent for long is cut off by whatever lies between. */
  async function follow<T, P>(request: HubRequest, onProgress: ((progress: P) => void) | undefined): Promise<T> {
    const { response, touch, end, fault } = await exchange.send({ ...request, accept: EVENTS });
    try {
      if (!isEventStream(response)) return readJson<T>(exchange.url, { text: await response.text() });
      for await (const { event, data } of readEvents(touched(response.body ?? [], touch))) {
        if (event === 'result') return JSON.parse(data) as T;
        if (event === 'error') throw new RefusedError(JSON.parse(data) as ProblemDocument, response);
        if (event === 'progress') onProgress?.(JSON.parse(data) as P);
      }
    } catch (error) {
      throw error instanceof HubError ? error : fault(error);
    } finally {
      end();
    }
    throw new UnreachableError(exchange.url, 'ended before it told the result; ask it what became of the work');
  }

  return {
    url: exchange.url,
    health: ({ checkDb }) =>
      // A hub whose database does not answer says so with 503.
      ask({ path: '/health', query: { check_db: checkDb } }, ({ ok, status, headers }) => {
        return ok || (status === 503 && /^application\/json\b/.test(headers.get('content-type') ?? ''));
      }),
    config: () => ask({ path: '/config' }),
    listCatalog: ({ text, ...query }) => ask({ path: '/catalog', query: { q: text, ...query } }),
    search: (query) => ask({ path: '/catalog/search', query: searchParameters(query) }),
    getEntity: async (id) => ask({ path: `/catalog/entities/${entityPath(id)}` }),
    async getManifest(id) {
      const { text, headers } = await textOf({ path: `/catalog/manifest/${entityPath(id)}` });
      return { text, digest: /^(?:W\/)?"(.*)"$/.exec(headers.get('etag') ?? '')?.[1] ?? '' };
    },
    install: (request, onEvent) => follow({ method: 'POST', path: '/catalog/install', body: { ...request } }, onEvent),
    listRemotes: () => ask({ path: '/remotes' }),
    addRemote: (url) => ask({ method: 'POST', path: '/remotes', body: { url } }),
    removeRemote: (url) => ask({ method: 'DELETE', path: '/remotes', body: { url } }),
    ingest: (url, onProgress, { acceptShrunk = false } = {}) =>
      follow({ method: 'POST', path: '/ingest', body: { url, accept_shrunk: acceptShrunk } }, onProgress),
    syncRemotes: (onProgress, { force = false } = {}) =>
      follow({ method: 'POST', path: '/remotes/sync', body: { force } }, onProgress),
    ingestStatus: () => ask({ path: '/ingest/status' }),
    listRejections: (query) => ask({ path: '/remotes/rejections', query: { ...query } }),
    listPending: ({ text, errorOnly, ...page }) =>
      ask({ path: '/gateways/pending', query: { q: text, error_only: errorOnly, ...page } }),
    async removePending(uid) {
      const path = pathSegment(uid);
      if (path === undefined) return { removed: false, uid, reason: 'not found' };
      return ask({ method: 'DELETE', path: `/gateways/pending/${path}` });
    },
    removeManyPending: (request) => ask({ method: 'POST', path: '/gateways/pending/delete', body: request }),
  };
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

const EVENTS = 'text/event-stream';

function isEventStream({ headers }: Response): boolean {
  return (headers.get('content-type') ?? '').startsWith(EVENTS);
}

async function* touched(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, touch: () => void) {
  for await (const chunk of chunks) {
    touch();
    yield chunk;
  }
}

function readJson<T>(url: string, { text }: { text: string }): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new UnreachableError(url, 'answered something that is no JSON; is this its address?', { cause: error });
  }
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
