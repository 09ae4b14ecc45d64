// The tools of the entity for CrewAI agents.
import { shortName } from '../../catalog/launch/launch-form.ts';
import type { AdapterTemplate } from './adapter-template.ts';
import { pythonHeader } from './python-launch.ts';
import { pyName } from './python-text.ts';

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
