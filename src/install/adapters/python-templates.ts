// The tools of an entity for agent frameworks in Python.
import { shortName } from '../../catalog/launch/launch-form.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { pyName, pyString, pythonHeader } from './python-source.ts';

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

export const crewaiTool: AdapterTemplate = {
  path: (subject) => `adapters/crewai/${pyName(shortName(subject))}_tool.py`,
  render: (request) => {
    const content = `"""CrewAI tools for an entity of the catalog.

Needs crewai and crewai-tools[mcp]. Written by Catalog Hub; the next install writes it again.
"""

import atexit
import os
from pathlib import Path
from typing import Any

${pythonHeader(request, { http: 'streamable-http', sse: 'sse', stdio: 'stdio' })}


def server_parameters() -> Any:
    """What MCPServerAdapter takes: an address as it is, a command as an object."""
    settings = connection()
    if settings["transport"] != "stdio":
        return settings
    from mcp import StdioServerParameters

    return StdioServerParameters(command=settings["command"], args=settings["args"], env=settings["env"])


_adapters: list[Any] = []


def ${pyName(shortName(request.subject))}_tools() -> list[Any]:
    """Tools for an agent, each with a schema of its own: \`Agent(..., tools=..._tools())\`. The connection stays open."""
    from crewai_tools import MCPServerAdapter

    if not _adapters:
        _adapters.append(MCPServerAdapter(server_parameters(), connect_timeout=60))
        atexit.register(_adapters[0].stop)
    return list(_adapters[0].tools)
`;
    return { kind: 'file', content };
  },
};

export const autogenTool: AdapterTemplate = {
  path: (subject) => `adapters/autogen/${pyName(shortName(subject))}_tool.py`,
  render: (request) => {
    const content = `"""AutoGen tools for an entity of the catalog.

Needs autogen-ext[mcp] and mcp<2. Written by Catalog Hub; the next install writes it again.
"""

import os
from pathlib import Path
from typing import Any

${pythonHeader(request, { http: 'http', sse: 'sse', stdio: 'stdio' })}


async def ${pyName(shortName(request.subject))}_tools() -> list[Any]:
    """Tools for an agent: \`AssistantAgent(name=..., model_client=..., tools=await ..._tools())\`."""
    from autogen_ext.tools.mcp import (
        SseServerParams,
        StdioServerParams,
        StreamableHttpServerParams,
        mcp_server_tools,
    )

    settings = connection()
    transport = settings.pop("transport")
    if transport == "stdio":
        # AutoGen waits for 5 seconds, which is too short for a server that is fetched first.
        return await mcp_server_tools(StdioServerParams(**settings, read_timeout_seconds=60))
    kinds = {"http": StreamableHttpServerParams, "sse": SseServerParams}
    return await mcp_server_tools(kinds[transport](**settings))
`;
    return { kind: 'file', content };
  },
};
