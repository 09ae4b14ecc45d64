// The tools of the entity for CrewAI agents.
import type { AdapterTemplate } from './adapter-template.ts';
import { pythonHeader } from './python-connection.ts';
import { pyClassName, pyName, pyString } from './python-text.ts';
import { shortName } from './short-name.ts';

export const crewaiTool: AdapterTemplate = {
  path: (subject) => `adapters/crewai/${pyName(shortName(subject))}_tool.py`,
  render: (request) => {
    const name = shortName(request.subject);
    const content = `"""A CrewAI tool for an entity of the catalog.

Needs crewai and crewai-tools[mcp]. Written by Catalog Hub; the next install writes it again.
"""

from __future__ import annotations

import os
from typing import Any

from crewai.tools import BaseTool

${pythonHeader(request, { http: 'streamable-http', sse: 'sse', stdio: 'stdio' })}


def server_parameters() -> Any:
    """What MCPServerAdapter takes: an address as it is, a command as an object."""
    settings = connection()
    if settings["transport"] != "stdio":
        return settings
    from mcp import StdioServerParameters

    return StdioServerParameters(command=settings["command"], args=settings["args"], env=settings["env"])


class ${pyClassName(name)}Tool(BaseTool):
    """Calls one tool of the entity by its name."""

    name: str = ${pyString(pyName(name))}
    description: str = ENTITY["description"] or ENTITY["title"]

    def _run(self, tool: str, arguments: dict[str, Any] | None = None) -> Any:
        from crewai_tools import MCPServerAdapter

        with MCPServerAdapter(server_parameters()) as tools:
            for each in tools:
                if each.name == tool:
                    return each.run(**(arguments or {}))
            raise ValueError("No tool " + repr(tool) + "; there are: " + ", ".join(each.name for each in tools))
`;
    return { kind: 'file', content };
  },
};
