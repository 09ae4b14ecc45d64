// The tools of the entity for AutoGen agents.
import { shortName } from '../../catalog/launch/launch-form.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { pythonHeader } from './python-launch.ts';
import { pyName } from './python-text.ts';

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
