// A node of a LangGraph graph that calls the tools of the entity.
import type { AdapterTemplate } from './adapter-template.ts';
import { pythonHeader } from './python-connection.ts';
import { pyName, pyString } from './python-text.ts';
import { shortName } from './short-name.ts';

export const langgraphNode: AdapterTemplate = {
  path: (subject) => `adapters/langgraph/${pyName(shortName(subject))}_node.py`,
  render: (request) => {
    const name = pyName(shortName(request.subject));
    const content = `"""A LangGraph node for an entity of the catalog.

Needs langgraph and langchain-mcp-adapters. Written by Catalog Hub; the next install writes it again.
"""

from __future__ import annotations

import os
from typing import Any

${pythonHeader(request, { http: 'streamable_http', sse: 'sse', stdio: 'stdio' })}


async def ${name}_tools() -> list[Any]:
    """The tools of the entity, to be bound to a model."""
    from langchain_mcp_adapters.client import MultiServerMCPClient

    return await MultiServerMCPClient({${pyString(name)}: connection()}).get_tools()


async def ${name}_node(state: dict[str, Any]) -> dict[str, Any]:
    """Runs the tool calls in the last message: \`graph.add_node(NODE_NAME, ${name}_node)\`."""
    from langgraph.prebuilt import ToolNode

    return await ToolNode(await ${name}_tools()).ainvoke(state)


NODE_NAME = ${pyString(name)}
`;
    return { kind: 'file', content };
  },
};
