// Every template, by the framework it is for and the key a manifest calls it by.
import type { AdapterTemplate } from './adapter-template.ts';
import { autogenTool } from './autogen.ts';
import { crewaiTool } from './crewai.ts';
import { langgraphNode } from './langgraph.ts';
import { claudeMcp, cursorMcp, vscodeMcp } from './mcp-client.ts';
import { watsonxSkill } from './watsonx-orchestrate.ts';

const TEMPLATES: Readonly<Record<string, Readonly<Record<string, AdapterTemplate>>>> = {
  langgraph: { node: langgraphNode },
  crewai: { tool: crewaiTool },
  autogen: { tool: autogenTool },
  watsonx_orchestrate: { skill: watsonxSkill },
  claude: { mcp: claudeMcp },
  cursor: { mcp: cursorMcp },
  vscode: { mcp: vscodeMcp },
};

/** Undefined when there is none for the pair. Without a key, the one template of the framework. */
export function findTemplate(framework: string, templateKey: string): AdapterTemplate | undefined {
  const name = normal(framework);
  const templates = Object.hasOwn(TEMPLATES, name) ? TEMPLATES[name] : undefined;
  if (!templates) return undefined;
  const key = normal(templateKey).replace(`${name}_`, '');
  if (key === '') return Object.values(templates)[0];
  return Object.hasOwn(templates, key) ? templates[key] : undefined;
}

function normal(name: string): string {
  return name.trim().toLowerCase().replaceAll(/[-. ]/g, '_');
}
