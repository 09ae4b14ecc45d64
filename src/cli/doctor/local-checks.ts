// Checks of a hub with these settings, on this machine.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../config.ts';
import type { Hub } from '../../hub.ts';
import { describeDatabase, isLoopbackHost } from '../../lib/address.ts';
import type { World } from '../../lib/world.ts';
import { plural } from '../output/text.ts';
import type { Check, Finding } from './finding.ts';
import { catalogFinding, modelFinding, NO_GATEWAY } from './hub-checks.ts';

export interface LocalChecksOptions {
  config: Config;
  world: Pick<World, 'fetch' | 'run'>;
  /** @throws StartError when the database cannot be used. */
  openHub: () => Promise<Hub>;
}

/** Programs that installs use; of each list, one is enough. */
const TOOLS: readonly { subject: string; programs: readonly string[]; use: string }[] = [
  { subject: 'git', programs: ['git'], use: 'artifacts of the kind git' },
  { subject: 'python', programs: ['uv', 'python3'], use: 'artifacts of the kind pypi' },
  { subject: 'npm', programs: ['npm'], use: 'packages of npm' },
  { subject: 'containers', programs: ['docker', 'podman', 'skopeo'], use: 'artifacts of the kind oci' },
];
const MODEL_PATIENCE_MS = 10_000;
const TOOL_TIMEOUT_MS = 10_000;
const NETWORK_TIMEOUT_MS = 10_000;
const ENOUGH_BYTES = 65_536;
const MOST_REMOTES_TRIED = 5;

export function localChecks({ config, world, openHub }: LocalChecksOptions): Check[] {
  return [
    { subject: 'database', look: () => databaseFinding(config, openHub) },
    // What needs the catalog is not looked at where there is none: looking would make one.
    ...(hasDatabase(config)
      ? [
          { subject: 'catalog', look: async () => catalogFinding(await openHub()) },
          { subject: 'gateway', look: async () => gatewayFinding(await openHub()) },
          { subject: 'model', look: async () => preparedModelFinding(await openHub()) },
        ]
      : []),
    { subject: 'protection', look: async () => protectionFinding(config) },
    ...TOOLS.map((tool) => ({ subject: tool.subject, look: () => toolFinding(tool, world) })),
    { subject: 'network', look: async () => networkFinding(await remotesOf(config, openHub), world) },
  ];
}

function hasDatabase({ database }: Config): boolean {
  return database.engine === 'postgres' || existsSync(database.path);
}

async function databaseFinding(config: Config, openHub: () => Promise<Hub>): Promise<Finding> {
  const name = describeDatabase(config.database);
  if (!hasDatabase(config)) {
    const advice = "'hub serve' makes one. DATA_DIR, DB_PATH or DATABASE_URL name another.";
    return { outcome: 'warning', found: `${name}: not there yet`, advice };
  }
  const hub = await openHub().catch((error: Error) => error);
  if (hub instanceof Error)
    return { outcome: 'failed', found: hub.message, advice: 'See whether it runs, and whether its address is right.' };
  const { db } = await hub.health({ checkDb: true });
  return db === 'ok'
    ? { outcome: 'ok', found: `${name} answers` }
    : { outcome: 'failed', found: `${name} does not answer`, advice: 'See whether its disk is full.' };
}

async function gatewayFinding(hub: Hub): Promise<Finding> {
  const check = await hub.checkGateway();
  if (check.outcome === 'ok') return { outcome: 'ok', found: 'answers, and takes the token' };
  if (check.outcome === 'not configured') return NO_GATEWAY;
  const advice =
    check.outcome === 'unauthorized'
      ? 'Set MCP_GATEWAY_TOKEN to a token of its administrator, or JWT_SECRET_KEY to its secret.'
      : 'See whether it runs, and whether MCP_GATEWAY_URL is its address.';
  return { outcome: 'failed', found: check.error, advice };
}

/** The vectors are read first, as a hub that serves does by itself. */
async function preparedModelFinding(hub: Hub): Promise<Finding> {
  await Promise.race([hub.catchUpSearch(), sleep(MODEL_PATIENCE_MS, undefined, { ref: false })]);
  return modelFinding(hub);
}

function protectionFinding({ adminToken, host }: Config): Finding {
  if (adminToken) return { outcome: 'ok', found: 'API_TOKEN is set' };
  if (isLoopbackHost(host))
    return { outcome: 'ok', found: 'API_TOKEN is not set; only this machine can reach the hub' };
  const advice = 'Set API_TOKEN: anybody who reaches the hub can change the catalog and install.';
  return { outcome: 'warning', found: `API_TOKEN is not set, and HOST is ${host}`, advice };
}

async function toolFinding(
  { programs, use }: (typeof TOOLS)[number],
  { run }: LocalChecksOptions['world'],
): Promise<Finding> {
  const versions = await Promise.all(programs.map((program) => versionOf(program, run)));
  const found = versions.filter((version) => version !== undefined);
  if (found.length > 0) return { outcome: 'ok', found: found.join('; ') };
  const advice = `Needed for ${use} only: install ${programs.join(' or ')}.`;
  return { outcome: 'warning', found: `no ${programs.join(', ')} that works on the PATH`, advice };
}

async function versionOf(program: string, run: World['run']): Promise<string | undefined> {
  const request = { program, args: ['--version'], cwd: process.cwd(), timeoutMs: TOOL_TIMEOUT_MS };
  const { exitCode, stdout } = await run(request).catch(() => ({ exitCode: 1, stdout: '' }));
  const [line = ''] = stdout.trim().split('\n');
  if (exitCode !== 0) return undefined;
  return line.toLowerCase().includes(program.replace(/\d$/, '')) ? line : `${program} ${line}`;
}

async function remotesOf(config: Config, openHub: () => Promise<Hub>): Promise<string[]> {
  const seeds = [...config.seedRemotes];
  if (!hasDatabase(config)) return seeds;
  const hub = await openHub().catch(() => undefined);
  return hub ? (await hub.listRemotes()).items.map(({ url }) => url) : seeds;
}

async function networkFinding(urls: readonly string[], { fetch }: LocalChecksOptions['world']): Promise<Finding> {
  const tried = urls.slice(0, MOST_REMOTES_TRIED);
  const faults = await Promise.all(tried.map((url) => reachFault(url, fetch)));
  const found = faults.filter((fault) => fault !== undefined);
  if (tried.length === 0) return { outcome: 'ok', found: 'no remotes to reach' };
  if (found.length === 0) return { outcome: 'ok', found: `${plural(tried.length, 'remote')} can be reached` };
  const advice =
    'See whether the addresses are right, and whether this machine may reach them (ALLOW_PRIVATE_NETWORK).';
  return { outcome: 'failed', found: found.join('; '), advice };
}

async function reachFault(url: string, fetch: World['fetch']): Promise<string | undefined> {
  try {
    const headers = { range: 'bytes=0-0' };
    const { status } = await fetch({ url, headers, maxBytes: ENOUGH_BYTES, timeoutMs: NETWORK_TIMEOUT_MS });
    return status < 400 || status === 416 ? undefined : `${url} answered ${status}`;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // A host that sends the whole of it, whatever was asked, is there.
    return message.startsWith('is larger') ? undefined : `${url} ${message}`;
  }
}
