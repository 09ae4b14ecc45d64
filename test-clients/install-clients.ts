// The registry clients of the tests, each at one version, in a folder that outlives clones of this repository.
import { execFile } from 'node:child_process';
import { access, copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../test/support/cache-folder.ts';
import { installPackages, programsOf } from '../test/support/servers/python-packages.ts';

const INSTALLED_WITHIN_MS = 1_500_000;
const OFFICIAL = 'github.com/modelcontextprotocol/registry/cmd';

const HOMES = {
  vscode: '@codingame/monaco-vscode-mcp-service-override@36.2.7',
  lighthouse: 'lighthouse@13.5.0',
  apm: 'apm-cli==0.35.0',
  'hf-discover': 'hf-discover==1.3.7',
  a2a: 'a2a-sdk==1.3.0',
  langchain4j: 'langchain4j-mcp-1.18.1-beta28',
  go: 'registry@v1.8.7',
  ard: 'ard-spec',
  toolhive: 'thv',
} as const;
export type Client = keyof typeof HOMES;

const homeOf = (client: Client) => cacheFolder('test-clients', HOMES[client]);

const INSTALLS: Record<Client, () => Promise<string | undefined>> = {
  vscode: () => once('vscode', npmInstall),
  lighthouse: () => once('lighthouse', npmInstall),
  apm: () => installPackages(homeOf('apm'), [HOMES.apm]),
  'hf-discover': () => installPackages(homeOf('hf-discover'), [HOMES['hf-discover']]),
  a2a: () => installPackages(homeOf('a2a'), [HOMES.a2a, 'httpx']),
  langchain4j: () => once('langchain4j', mavenInstall),
  go: () => once('go', goInstall),
  ard: findArdTester,
  toolhive: findToolHive,
};

/** Returns the reason for each client that is missing. */
export async function installClients(): Promise<Map<Client, string>> {
  const missing = new Map<Client, string>();
  // Sequentially, because compilers and package managers already use all cores.
  for (const client of Object.keys(HOMES) as Client[]) {
    const reason = await INSTALLS[client]();
    if (reason) missing.set(client, `${client}: ${reason}`);
  }
  return missing;
}

export function programOf(client: 'apm' | 'hf-discover' | 'a2a' | 'go', name: string): string {
  return join(client === 'go' ? homeOf('go') : programsOf(homeOf(client)), name);
}

export function moduleOf(client: 'vscode' | 'lighthouse', path: string): string {
  return join(homeOf(client), 'node_modules', path);
}

export const langchain4jClasses = () => join(homeOf('langchain4j'), '*');

/** The ARD conformance tester is in no package registry: ARD_SPEC names a checkout of its repository. */
export function ardTester(): string {
  return join(process.env.ARD_SPEC || homeOf('ard'), 'conformance/bin/conformance-test');
}

async function findArdTester(): Promise<string | undefined> {
  const isThere = await exists(ardTester());
  return isThere ? undefined : 'no checkout of the ARD specification; ARD_SPEC may name one';
}

/** ToolHive is large, and missing in some Go module mirrors: it is used only where it is installed. */
async function findToolHive(): Promise<string | undefined> {
  const isThere = (process.env.PATH ?? '').split(delimiter).map((folder) => exists(join(folder, HOMES.toolhive)));
  return (await Promise.all(isThere)).includes(true) ? undefined : 'thv is not installed; only its calls were tried';
}

async function once(client: Client, install: (client: Client) => Promise<unknown>): Promise<string | undefined> {
  const complete = join(homeOf(client), 'complete');
  if (await exists(complete)) return undefined;
  try {
    await rm(homeOf(client), { recursive: true, force: true });
    await mkdir(homeOf(client), { recursive: true });
    await install(client);
    await writeFile(complete, '');
    return undefined;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    return `could not be installed: ${stderr?.trim().split('\n').slice(-3).join(' ') || message}`;
  }
}

function npmInstall(client: Client): Promise<unknown> {
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-save', '--prefix', homeOf(client)];
  return program('npm', ['install', ...flags, HOMES[client]]);
}

async function mavenInstall(client: Client): Promise<unknown> {
  await program('java', ['--version']);
  const pom = join(homeOf(client), 'pom.xml');
  await copyFile(join(import.meta.dirname, 'drivers', 'langchain4j.pom.xml'), pom);
  const words = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', '-DincludeScope=runtime'];
  return program('mvn', [...words, `-DoutputDirectory=${homeOf(client)}`]);
}

/** The registry, and its publishing program. */
function goInstall(client: Client): Promise<unknown> {
  const [, version] = HOMES.go.split('@');
  const commands = ['registry', 'publisher'].map((name) => `${OFFICIAL}/${name}@${version}`);
  return program('go', ['install', ...commands], { GOBIN: homeOf(client) });
}

function program(name: string, words: readonly string[], env: Record<string, string> = {}): Promise<unknown> {
  return promisify(execFile)(name, words, { timeout: INSTALLED_WITHIN_MS, env: { ...process.env, ...env } });
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
