// The tools of the entity for AutoGen agents.
import type { AdapterTemplate } from './adapter-template.ts';
import { pythonHeader } from './python-connection.ts';
import { pyName } from './python-text.ts';
import { shortName } from './short-name.ts';

export const autogenTool: AdapterTemplate = {
  path: (subject) => `adapters/autogen/${pyName(shortName(subject))}_tool.py`,
  render: (request) => {
    const content = `"""AutoGen tools for an entity of the catalog.

Needs autogen-ext[mcp]. Written by Catalog Hub; the next install writes it again.
"""

from __future__ import annotations

import os
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
    kinds = {"http": StreamableHttpServerParams, "sse": SseServerParams, "stdio": StdioServerParams}
    return await mcp_server_tools(kinds[transport](**settings))
`;
    return { kind: 'file', content };
  },
};
