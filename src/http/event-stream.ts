// Sends long work as a stream of server-sent events: progress, then the ordinary response.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asHubError, problemBody } from './problem.ts';

/** Proxies and clients close streams that are silent for longer, and a step of an install may take minutes. */
const HEARTBEAT_MS = 15_000;

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs internal errors, once. */
    logFailure(request: FastifyRequest, error: unknown): void;
  }
}

export function wantsEvents({ headers }: FastifyRequest): boolean {
  return /\btext\/event-stream\b/i.test(headers.accept ?? '');
}

/**
 * `work` reports progress at any time; it ends with the event `result`, or `error` with a problem. An error before the
 * first progress is returned as an ordinary response, with its own status.
 */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  work: (report: (progress: unknown) => void) => Promise<unknown>,
  heartbeatMs = HEARTBEAT_MS,
): Promise<FastifyReply> {
  const events = new Readable({ read() {} });
  const begun = Promise.withResolvers<void>();
  // When the caller disconnects, the stream ends, but the work continues.
  const send = (event: string, data: unknown) => {
    if (!events.destroyed) events.push(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  };
  const done = work((progress) => {
    send('progress', progress);
    begun.resolve();
  });
  await Promise.race([done, begun.promise]);
  const heartbeat = setInterval(() => !events.destroyed && events.push(': still at work\n\n'), heartbeatMs).unref();
  done
    .then((result) => send('result', result))
    .catch((error) => {
      request.server.logFailure(request, error);
      send('error', problemBody(asHubError(error), request.id));
    })
    .finally(() => {
      clearInterval(heartbeat);
      if (!events.destroyed) events.push(null);
    });
  return reply.type('text/event-stream').header('cache-control', 'no-store').send(events);
}
