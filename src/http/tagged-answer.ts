// Sends responses that caches and clients may store, tagged by their content.
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag } from './etag.ts';

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
