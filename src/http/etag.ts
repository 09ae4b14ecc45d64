// Entity tags: tags responses by content, and checks whether the caller already has the response.
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

const MAX_AGE_SEC = 60;

/** Tagged by content, because search results depend on more than the catalog. */
export function sender({
  readsNeedToken,
  maxAgeSec = MAX_AGE_SEC,
  type = 'application/json; charset=utf-8',
}: {
  readsNeedToken: boolean;
  maxAgeSec?: number;
  type?: string;
}) {
  const caching = readsNeedToken ? 'private, no-cache' : `public, max-age=${maxAgeSec}`;
  /** A response that is a string is already JSON. */
  return (answer: object | string, { headers }: FastifyRequest, reply: FastifyReply) => {
    // Encoded once, because both the digest and the socket need bytes.
    const body = Buffer.from(typeof answer === 'string' ? answer : JSON.stringify(answer));
    const etag = `W/"${hash('sha1', body, 'base64url')}"`;
    reply.header('etag', etag).header('cache-control', caching);
    if (matchesEtag(headers['if-none-match'], etag)) return reply.code(304).send(undefined);
    return reply.type(type).send(body);
  };
}

/** RFC 9110: a list of tags or `*`; weak comparison, as If-None-Match requires. */
export function matchesEtag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
  return tags.some((tag) => tag === '*' || opaque(tag) === opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}
