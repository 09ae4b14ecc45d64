// Agent frameworks from PyPI, each in a virtual environment of its own.
import { join, resolve } from 'node:path';
import { installPackages, programsOf } from '../test/support/python-packages.ts';

const PACKAGES = {
  langgraph: ['langgraph', 'langchain-mcp-adapters'],
  crewai: ['crewai', 'crewai-tools[mcp]'],
  // It does not say that newer versions of the SDK do not suit it.
  autogen: ['autogen-agentchat', 'autogen-ext[mcp]', 'mcp<2'],
  watsonx_orchestrate: ['ibm-watsonx-orchestrate'],
} as const;
export type Framework = keyof typeof PACKAGES;
const FRAMEWORKS = Object.keys(PACKAGES) as Framework[];

const CACHE = resolve(import.meta.dirname, '../node_modules/.cache/test-frameworks');

export function pythonOf(framework: Framework): string {
  return join(programsOf(join(CACHE, framework)), 'python');
}

/** Why some could not be installed, by framework. */
export async function installFrameworks(): Promise<Map<Framework, string>> {
  const missing = new Map<Framework, string>();
  // One after the other: together they would fill the disk's queue, and the largest has a gigabyte.
  for (const framework of FRAMEWORKS) {
    const reason = await installPackages(join(CACHE, framework), PACKAGES[framework]);
    if (reason) missing.set(framework, reason);
  }
  return missing;
}
