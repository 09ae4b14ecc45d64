// Serves the web page: its files, the paths that can be opened directly, and the page that browsers see at unknown paths.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HubError } from '../../errors.ts';
import { isReadable } from '../address-path.ts';
import { sendProblem } from '../problem.ts';
import { readPageFile, readPageFiles, sendPageFile } from './page-files.ts';
import { pagePolicy } from './page-policy.ts';

/** The output of `npm run build:page`; the relative path is the same from `src/http` and `dist/http`. */
export const PAGE_FOLDER = fileURLToPath(new URL('../../../dist/web/', import.meta.url));

/** The page derives its content from the path. */
const PAGE_ADDRESSES = ['/', '/operations', '/operations/approvals', '/operations/policy', '/entities/:id'];

/** The page's first request on `/`: a header makes browsers send it while the script is still loading. */
export const FIRST_LIST = '/catalog/search?versions=latest&limit=20&with_snippets=true';

const PRELOAD = `<${FIRST_LIST}>; rel=preload; as=fetch; crossorigin=anonymous`;
/** For clients of Agentic Resource Discovery. */
const DISCOVERY = '</.well-known/ard.json>; rel=ard';

const NOT_BUILT = `Catalog Hub is running, but its page is not built.
Run 'npm run build:page' in the hub's folder, then start the hub again.
The API works without it, and is described at /docs.
`;

const open = { schema: { hide: true }, config: { isOpen: true } };

interface PageOptions {
  folder?: string;
  /** Whether browsers preload the first list; false if reads need a token. */
  preloads?: boolean;
}

export function webPage(app: FastifyInstance, { folder = PAGE_FOLDER, preloads = true }: PageOptions = {}): void {
  if (!existsSync(join(folder, 'index.html'))) {
    for (const url of PAGE_ADDRESSES) app.get(url, open, sayNotBuilt);
    return;
  }
  const page = readPageFile(join(folder, 'index.html'));
  const assets = readPageFiles(join(folder, 'assets'));

  for (const url of PAGE_ADDRESSES) {
    app.get(url, open, async (request, reply) => {
      reply.header('content-security-policy', pagePolicy({ remoteImages: allowsImages(request) }));
      reply.header('cache-control', 'no-cache');
      if (request.url === '/') reply.header('link', preloads ? `${DISCOVERY}, ${PRELOAD}` : DISCOVERY);
      return sendPageFile(page, request, reply);
    });
  }
  app.get<{ Params: { '*': string } }>('/assets/*', open, async (request, reply) => {
    const asset = assets.get(request.params['*']);
    if (!asset) return reply.callNotFound();
    // Asset names change with their content, so browsers never need to request one twice.
    reply.header('cache-control', 'public, max-age=31536000, immutable');
    return sendPageFile(asset, request, reply);
  });
}

/** For unknown paths: browsers get the page, which says so and offers links; programs get a problem. */
export function answerNotFound(folder: string = PAGE_FOLDER) {
  const file = join(folder, 'index.html');
  const page = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (page === undefined || !isOpenedInBrowser(request)) return sendProblem(nothingAt(request), request, reply);
    reply.header('content-security-policy', pagePolicy({ remoteImages: false }));
    return reply.code(404).header('cache-control', 'no-cache').type('text/html; charset=utf-8').send(page);
  };
}

function nothingAt({ originalUrl }: FastifyRequest): HubError {
  if (!isReadable(originalUrl)) return new HubError('invalid_request', 'The address cannot be read.');
  return new HubError('route_not_found', 'Nothing is served at this address; /docs lists all endpoints.');
}

/** Browsers request pages as HTML; for everything else, they and programs accept any type. */
function isOpenedInBrowser({ method, headers, url }: FastifyRequest): boolean {
  const isRead = method === 'GET' || method === 'HEAD';
  return isRead && /\btext\/html\b/.test(headers.accept ?? '') && !url.startsWith('/assets/');
}

/** The page adds this when the reader chooses to load the images of a readme, which come from any host. */
function allowsImages({ query }: FastifyRequest): boolean {
  return (query as Record<string, unknown>).images === 'remote';
}

async function sayNotBuilt(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return reply.type('text/plain; charset=utf-8').header('cache-control', 'no-store').send(NOT_BUILT);
}
