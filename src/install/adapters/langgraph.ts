// A node of a LangGraph graph that calls the tools of the entity.
import { shortName } from '../../catalog/launch/launch-form.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { pythonHeader } from './python-launch.ts';
import { pyName, pyString } from './python-text.ts';

export const langgraphNode: AdapterTemplate = {
  path: (subject) => `adapters/langgraph/${pyName(shortName(subject))}_node.py`,
  render: (request) => {
    const name = pyName(shortName(request.subject));
    const content = `"""A LangGraph node for an entity of the catalog.

Needs langgraph and langchain-mcp-adapters. Written by Catalog Hub; the next install writes it again.
"""

import os
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig

${pythonHeader(request, { http: 'streamable_http', sse: 'sse', stdio: 'stdio' })}


_tools: list[Any] = []


async def ${name}_tools() -> list[Any]:
    """The tools of the entity, to be bound to a model. The server is asked for them once."""
    from langchain_mcp_adapters.client import MultiServerMCPClient

    if not _tools:
        _tools.extend(await MultiServerMCPClient({${pyString(name)}: connection()}).get_tools())
    return list(_tools)


async def ${name}_node(state: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
    """Runs the tool calls in the last message: \`graph.add_node(NODE_NAME, ${name}_node)\`."""
    from langgraph.prebuilt import ToolNode

    return await ToolNode(await ${name}_tools()).ainvoke(state, config)


NODE_NAME = ${pyString(name)}
`;
    return { kind: 'file', content };
  },
};
