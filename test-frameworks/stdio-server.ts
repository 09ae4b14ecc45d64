// A real MCP server over stdio, built with the official SDK, that returns its input and environment.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

const server = new McpServer({ name: 'echo', version: '1.0.0' });
const inputSchema = { text: z.string() };
server.registerTool('echo_text', { description: 'Gives back what it gets.', inputSchema }, ({ text }) => ({
  content: [{ type: 'text', text: `${text}, ${process.env.ECHO_KEY}, ${process.env.ECHO_OTHER ?? 'nothing else'}` }],
}));
await server.connect(new StdioServerTransport());
