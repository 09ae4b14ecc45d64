// The tools of an entity for agent frameworks in Python.
import { shortName } from '../../catalog/launch/launch-form.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { pyName, pyString, pythonHeader } from './python-source.ts';

interface PythonTemplate {
  framework: string;
  file: 'node' | 'tool';
  title: string;
  needs: string;
  imports?: string;
  /** The framework's name for streamable HTTP. */
  http: string;
  /** The code after `ENTITY` and `connection()`. */
  code(name: string): string;
}

function pythonTemplate({ framework, file, title, needs, imports, http, code }: PythonTemplate): AdapterTemplate {
  return {
    path: (subject) => `adapters/${framework}/${pyName(shortName(subject))}_${file}.py`,
    render: (request) => {
      const content = `"""${title} for an entity of the catalog.

Needs ${needs}. Written by Catalog Hub; the next install writes it again.
"""

import os
from pathlib import Path
from typing import Any

${imports ? `${imports}\n\n` : ''}${pythonHeader(request, http)}


${code(pyName(shortName(request.subject)))}`;
      return { kind: 'file', content };
    },
  };
}

export const langgraphNode = pythonTemplate({
  framework: 'langgraph',
  file: 'node',
  title: 'A LangGraph node',
  needs: 'langgraph and langchain-mcp-adapters',
  imports: 'from langchain_core.runnables import RunnableConfig',
  http: 'streamable_http',
  code: (name) => `_tools: list[Any] = []


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
`,
});

export const crewaiTool = pythonTemplate({
  framework: 'crewai',
  file: 'tool',
  title: 'CrewAI tools',
  needs: 'crewai and crewai-tools[mcp]',
  http: 'streamable-http',
  code: (name) => `def server_parameters() -> Any:
    """What MCPServerAdapter takes: an address as it is, a command as an object."""
    settings = connection()
    if settings["transport"] != "stdio":
        return settings
    from mcp import StdioServerParameters

    return StdioServerParameters(command=settings["command"], args=settings["args"], env=settings["env"])


_adapters: list[Any] = []


def ${name}_tools() -> list[Any]:
    """Tools for an agent, each with a schema of its own: \`Agent(..., tools=..._tools())\`. The connection stays open."""
    import atexit

    from crewai_tools import MCPServerAdapter

    if not _adapters:
        _adapters.append(MCPServerAdapter(server_parameters(), connect_timeout=60))
        atexit.register(_adapters[0].stop)
    return list(_adapters[0].tools)
`,
});

export const autogenTool = pythonTemplate({
  framework: 'autogen',
  file: 'tool',
  title: 'AutoGen tools',
  needs: 'autogen-ext[mcp] and mcp<2',
  http: 'http',
  code: (name) => `async def ${name}_tools() -> list[Any]:
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
`,
});
