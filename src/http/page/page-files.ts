// Keeps the files of the page in memory: they are few and small, and a visitor waits for each of them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { matchesEtag } from '../etag.ts';

export interface PageFile {
  type: string;
  etag: string;
  content: Buffer;
  /** Compressed by the build. */
  brotli: Buffer | undefined;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

export function readPageFile(path: string): PageFile {
  const content = readFileSync(path);
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    // Weak, because the bytes on the wire depend on the compression.
    etag: `W/"${createHash('sha256').update(content).digest('base64url')}"`,
    content,
    brotli: existsSync(`${path}.br`) ? readFileSync(`${path}.br`) : undefined,
  };
}

/** By file name. */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const names = readdirSync(folder).filter((name) => extname(name) !== '.br');
  return new Map(names.map((name) => [name, readPageFile(join(folder, name))]));
}

export function sendPageFile(
  { type, etag, content, brotli }: PageFile,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.header('etag', etag);
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
  reply.type(type);
  if (!brotli || !acceptsBrotli(request)) return reply.send(content);
  return reply.header('content-encoding', 'br').send(brotli);
}

function acceptsBrotli({ headers }: FastifyRequest): boolean {
  return /\bbr\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(String(headers['accept-encoding'] ?? ''));
}
