// The hub as an MCP server: tools, resources and a prompt over the same operations as every other door.
import { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '../version.ts';
import { offerFindPrompt } from './prompt.ts';
import { offerResources } from './resources.ts';
import type { McpServerOptions } from './tool.ts';
import { offerChangingTools } from './tools-changing.ts';
import { offerReadingTools } from './tools-reading.ts';

const INSTRUCTIONS = [
  'A catalog of agents, tools and MCP servers.',
  'Say what you need in plain words with search_catalog, read one with get_entity,',
  'look at plan_install, and put it into a project with install_entity.',
].join(' ');

/** A new one for each request or connection: it holds no state. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const server = new McpServer(
    { name: 'catalog-hub', title: 'Catalog Hub', version: VERSION },
    { instructions: INSTRUCTIONS },
  );
  offerReadingTools(server, options);
  offerChangingTools(server, options);
  offerResources(server, options);
  offerFindPrompt(server);
  return server;
}
