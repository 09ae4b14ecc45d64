// The hub as an MCP server: tools, resources and a prompt over the same operations as every other door.
import { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '../version.ts';
import { offerFindPrompt } from './prompt.ts';
import { offerResources } from './resources.ts';
import { FOREIGN_WORDS, type McpServerOptions } from './tools/tool.ts';
import { offerInstall, offerPlan } from './tools/tools-install.ts';
import { offerPending, offerSync } from './tools/tools-operating.ts';
import { offerEntity, offerSearch } from './tools/tools-reading.ts';
import { offerBlock, offerRemoval } from './tools/tools-removing.ts';

const INSTRUCTIONS = [
  'A catalog of agents, tools and MCP servers.',
  'Say what you need in plain words with search_catalog, read one with get_entity,',
  'look at plan_install, and put it into a project with install_entity.',
  FOREIGN_WORDS,
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

/** A new one for each request or connection: it holds no state. */
export function createMcpServer(options: McpServerOptions): McpServer {
  const server = new McpServer(
    { name: 'catalog-hub', title: 'Catalog Hub', version: VERSION },
    { instructions: INSTRUCTIONS },
  );
  for (const offer of OFFERS) offer(server, options);
  return server;
}
