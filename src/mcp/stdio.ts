// The hub as an MCP server on standard input and output, for clients that start it themselves.
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { messageLines } from './message-lines.ts';
import { createMcpServer } from './server.ts';
import type { McpHub, McpServerOptions } from './tools/tool.ts';
import { trackUnanswered, type Unanswered } from './unanswered.ts';

export interface StdioOptions {
  hub: McpHub;
  targetFolder: McpServerOptions['targetFolder'];
  /** Aborted when the process is asked to stop. */
  shutdown: AbortSignal;
  /** Ends when the client disconnects or has sent its last request. */
  input: NodeJS.ReadableStream;
  onFailure: (error: unknown) => void;
}

/** How long running requests may take after the input has ended. */
const PATIENCE_MS = 30_000;

/**
 * Resolves once the input has ended and its requests are answered, or the process is asked to stop. The client has all
 * permissions, because it started the process.
 */
export async function serveMcpOnStdio({ shutdown, input, ...served }: StdioOptions): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  // The transport closes when its input ends, and drops running requests. This input stays open.
  const held = messageLines((error) => process.stdout.write(`${JSON.stringify(error)}\n`));
  const transport = new StdioServerTransport(held);
  const handle = serveStdio(() => createMcpServer(served), {
    transport,
    onerror: served.onFailure,
  });
  const unanswered = trackUnanswered(transport);
  for (const event of ['end', 'close']) input.once(event, () => ended.resolve());
  input.pipe(held, { end: false });
  shutdown.addEventListener('abort', () => stopped.resolve());
  if (shutdown.aborted) stopped.resolve();
  await Promise.race([ended.promise, stopped.promise]);
  // The last messages read have not reached the transport yet.
  await new Promise(setImmediate);
  await untilAnswered(unanswered, shutdown);
  await handle.close();
}

/** Gives up after a while, or when the process is asked to stop. The timer keeps the process alive until then. */
async function untilAnswered(unanswered: Unanswered, shutdown: AbortSignal): Promise<void> {
  const answered = new AbortController();
  const signal = AbortSignal.any([answered.signal, shutdown]);
  const patience = sleep(PATIENCE_MS, undefined, { signal }).catch(() => {});
  await Promise.race([unanswered.none(), patience]);
  answered.abort();
}
