// The type of an entity, as icon and name.
import type { EntityType } from '../../../src/catalog/uid.ts';
import { AgentIcon, ServerIcon, ToolIcon } from './icons.tsx';

export const TYPES: Record<EntityType, { one: string; many: string; Icon: typeof AgentIcon }> = {
  agent: { one: 'Agent', many: 'Agents', Icon: AgentIcon },
  tool: { one: 'Tool', many: 'Tools', Icon: ToolIcon },
  mcp_server: { one: 'MCP server', many: 'MCP servers', Icon: ServerIcon },
};

export function TypeLabel({ type }: { type: EntityType }) {
  const { one, Icon } = TYPES[type];
  return (
    <span class={`type type-${type}`}>
      <Icon />
      {one}
    </span>
  );
}
