// Real MCP servers, built with the official SDK, with streamable HTTP and the older SSE.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

export interface RunningServer {
  /** The address for streamable HTTP. */
  mcp: string;
  /** The address for SSE. */
  sse: string;
  /** The number of requests so far. */
  requests(): number;
  /** A header of the last request. */
  lastHeader(name: string): string | undefined;
}

export interface ServerOptions {
  /** A port; by default any free one. */
  port?: number;
  /** Delays every response until this settles. */
  answersAfter?: Promise<void>;
  /** The names of its prompts. */
  prompts?: string[];
  /** The name of its tool. */
  tool?: string;
}

/** Listens until the test ends; its only tool returns its input. */
export async function startMcpServer(t: TestContext, options: ServerOptions = {}): Promise<RunningServer> {
  const { port = 0, answersAfter, prompts = [], tool = 'echo_text' } = options;
  const streams = new Map<string, SSEServerTransport>();
  let requests = 0;
  let lastHeaders: IncomingMessage['headers'] = {};

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests += 1;
    lastHeaders = request.headers;
    await answersAfter;
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/mcp' && request.method === 'POST')
      return answerOnce(request, response, echoServer(tool, prompts));
    if (pathname === '/sse' && request.method === 'GET') return openStream(response);
    const stream = pathname === '/messages' ? streams.get(searchParams.get('sessionId') ?? '') : undefined;
    if (stream) return stream.handlePostMessage(request, response);
    response.writeHead(pathname === '/mcp' ? 405 : 404).end();
  }

  async function openStream(response: ServerResponse): Promise<void> {
    const transport = new SSEServerTransport('/messages', response);
    streams.set(transport.sessionId, transport);
    response.on('close', () => streams.delete(transport.sessionId));
    await echoServer(tool, prompts).connect(transport);
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  const base = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : port}`;
  return {
    mcp: `${base}/mcp`,
    sse: `${base}/sse`,
    requests: () => requests,
    lastHeader: (name) => String(lastHeaders[name] ?? ''),
  };
}

/** Stateless: each request has a separate server. */
async function answerOnce(request: IncomingMessage, response: ServerResponse, server: McpServer): Promise<void> {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => transport.close());
  await server.connect(transport);
  await transport.handleRequest(request, response);
}

function echoServer(tool: string, prompts: readonly string[]): McpServer {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  const inputSchema = { text: z.string() };
  server.registerTool(tool, { description: 'Gives back what it gets.', inputSchema }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }));
  for (const name of prompts) {
    server.registerPrompt(name, { description: 'Says hello.' }, () => ({
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello.' } }],
    }));
  }
  return server;
}
