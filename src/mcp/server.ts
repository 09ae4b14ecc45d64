// The hub as an MCP server: tools, resources and a prompt, based on the same operations as HTTP and the command line.
import { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '../version.ts';
import { offerFindPrompt } from './prompt.ts';
import { offerResources } from './resources.ts';
import { type McpServerOptions, PUBLISHER_TEXT_NOTE } from './tools/tool.ts';
import { offerInstall, offerPlan } from './tools/tools-install.ts';
import { offerPending, offerSync } from './tools/tools-operating.ts';
import { offerEntity, offerSearch } from './tools/tools-reading.ts';
import { offerBlock, offerRemoval } from './tools/tools-removing.ts';

const INSTRUCTIONS = [
  'A catalog of agents, tools and MCP servers.',
  'Describe what you need with search_catalog, read an entity with get_entity,',
  'preview the install with plan_install, and install it into a project with install_entity.',
  PUBLISHER_TEXT_NOTE,
].join(' ');

const OFFERS = [
  offerSearch,
  offerEntity,
  offerPlan,
  offerInstall,
  offerPending,
  offerSync,
  offerRemoval,
  offerBlock,
  offerResources,
  offerFindPrompt,
];

/** Created per request or connection; it has no state. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const server = new McpServer(
    { name: 'catalog-hub', title: 'Catalog Hub', version: VERSION },
    { instructions: INSTRUCTIONS },
  );
  for (const offer of OFFERS) offer(server, options);
  return server;
}
