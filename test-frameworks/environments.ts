// Agent frameworks from PyPI, each in a separate virtual environment.
import { join } from 'node:path';
import { cacheFolder } from '../test/support/cache-folder.ts';
import { installPackages, programsOf } from '../test/support/servers/python-packages.ts';

const PACKAGES = {
  langgraph: ['langgraph==1.2.22', 'langchain-mcp-adapters==0.3.2'],
  crewai: ['crewai==1.15.30', 'crewai-tools[mcp]==1.15.30'],
  // Its metadata lacks this upper bound of the SDK.
  autogen: ['autogen-agentchat==0.7.5', 'autogen-ext[mcp]==0.7.5', 'mcp<2'],
  watsonx_orchestrate: ['ibm-watsonx-orchestrate==2.19.1'],
} as const;
export type Framework = keyof typeof PACKAGES;
const FRAMEWORKS = Object.keys(PACKAGES) as Framework[];

const homeOf = (framework: Framework) => cacheFolder('test-frameworks', PACKAGES[framework].join(' '));

export function pythonOf(framework: Framework): string {
  return join(programsOf(homeOf(framework)), 'python');
}

/** Returns the reason for each framework that could not be installed. */
export async function installFrameworks(): Promise<Map<Framework, string>> {
  const missing = new Map<Framework, string>();
  // Sequentially, to limit disk load: the largest takes a gigabyte.
  for (const framework of FRAMEWORKS) {
    const reason = await installPackages(homeOf(framework), PACKAGES[framework]);
    if (reason) missing.set(framework, reason);
  }
  return missing;
}
