// The hub as an MCP server on standard input and output, for clients that start it themselves.
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer } from './server.ts';
import type { McpHub, McpServerOptions } from './tool.ts';
import { trackUnanswered } from './unanswered.ts';

export interface StdioOptions {
  hub: McpHub;
  targetFolder: McpServerOptions['targetFolder'];
  /** Aborted when the process is asked to end. */
  shutdown: AbortSignal;
  /** Ends when the client goes away, or has asked all that it wants to know. */
  input: NodeJS.ReadableStream;
  onFailure: (error: unknown) => void;
}

/** For what is under way when the input ends; a client that is gone reads no answer. */
const PATIENCE_MS = 30_000;

/** Resolves once the client has gone and what it asked is answered, or the process is asked to end. Whoever starts a process may do what it can. */
export async function serveMcpOnStdio({ shutdown, input, ...served }: StdioOptions): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  // The transport closes with its input, and would drop what is not answered yet: this one stays open.
  const held = new PassThrough();
  const transport = new StdioServerTransport(held);
  const handle = serveStdio(() => createMcpServer({ ...served, isAdmin: true }), {
    transport,
    onerror: served.onFailure,
  });
  const unanswered = trackUnanswered(transport);
  for (const event of ['end', 'close']) input.once(event, () => ended.resolve());
  input.pipe(held, { end: false });
  shutdown.addEventListener('abort', () => stopped.resolve());
  if (shutdown.aborted) stopped.resolve();
  await Promise.race([ended.promise, stopped.promise]);
  // What was read last is on its way to the transport.
  await new Promise(setImmediate);
  await Promise.race([unanswered.none(), stopped.promise, sleep(PATIENCE_MS, undefined, { ref: false })]);
  await handle.close();
}
