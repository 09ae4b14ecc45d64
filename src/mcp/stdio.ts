// The hub as an MCP server on standard input and output, for clients that start it themselves.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer } from './server.ts';
import type { McpHub, McpServerOptions } from './tool.ts';

export interface StdioOptions {
  hub: McpHub;
  targetFolder: McpServerOptions['targetFolder'];
  /** Aborted when the process is asked to end. */
  shutdown: AbortSignal;
  /** Ends when the client goes away. */
  input: NodeJS.ReadableStream;
  onFailure: (error: unknown) => void;
}

/** Resolves once the client has gone, or the process is asked to end. Whoever starts a process may do what it can. */
export async function serveMcpOnStdio({ shutdown, input, ...served }: StdioOptions): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const handle = serveStdio(() => createMcpServer({ ...served, isAdmin: true }), { onerror: served.onFailure });
  for (const event of ['end', 'close']) input.once(event, () => ended.resolve());
  shutdown.addEventListener('abort', () => ended.resolve());
  if (shutdown.aborted) ended.resolve();
  await ended.promise;
  await handle.close();
}
