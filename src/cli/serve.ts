// `hub serve`: starts, listens, and stops without losing a request.
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import v8 from 'node:v8';
import type { FastifyInstance } from 'fastify';
import { type Config, type Environment, readConfig } from '../config.ts';
import { SettingError, StartError } from '../errors.ts';
import { type Connections, trackConnections } from '../http/connections.ts';
import type { TlsIdentity } from '../http/listener.ts';
import { createHub, type Hub } from '../hub/hub.ts';
import { type ClosableLogger, createLogger } from '../lib/logger.ts';
import { describeDatabase, isAnyHost, isLoopbackHost, listenerUrl } from '../lib/net/address.ts';
import { VERSION } from '../version.ts';
import { readDemoCatalog } from './demo.ts';
import { openWorld } from './hub/world.ts';

const STANDARD_PORT = 443;
/** Errors of listening on an address that this machine does not have. */
const HOST_FAILURES = ['ENOTFOUND', 'EADDRNOTAVAIL', 'EAI_AGAIN', 'EINVAL'];
/** Errors of listening on a port that cannot be used. */
const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EACCES: 'cannot be used by this user',
  EADDRINUSE: 'is taken by another program',
};
const FALLBACK_PORT = 8443;
/** Requests that take longer are cut off; the process must exit within 10 s of the signal. */
const GRACE_MS = 6_000;
const SWEEP_MS = 200;

export interface ServeOptions {
  environment: Environment;
  demo: boolean;
  isTerminal: boolean;
  /** Writes one line for people. */
  say: (line: string) => void;
  /** Aborted when the process should stop. */
  shutdown: AbortSignal;
}

/** Resolves once everything is closed. @throws StartError if it cannot start. */
export async function serve({ environment, demo, isTerminal, say, shutdown }: ServeOptions): Promise<void> {
  const config = readConfig(demo ? withDemoDatabase(environment) : environment);
  const tls = config.tls && (await readTls(config.tls));
  const log = await createLogger({ level: config.logLevel, terminal: isTerminal });
  const { world, close: closeWorld } = openWorld(config, log, environment);
  let address = '';
  // Loading the HTTP server takes about as long as opening the database, so both run at once.
  const serverModule = import('../http/server.ts');
  const hub = await createHub({ config, world, baseUrl: () => config.baseUrl ?? address, shutdown });
  let app: FastifyInstance | undefined;
  let connections: Connections | undefined;
  try {
    if (demo) await hub.load(await readDemoCatalog());
    const { createServer } = await serverModule;
    app = await createServer({ hub, config, world, tls, draining: shutdown });
    connections = trackConnections(app.server);
    const port = await listen(app, config, say);
    address = listenerUrl({ host: config.host, port, secure: tls !== undefined });
    announce({ config, address, say, log });
    // From now on, garbage collection runs after the heap has grown by a third, because a hub shares its machine.
    v8.setFlagsFromString('--heap-growing-percent=30');
    await aborted(shutdown);
    await sleep(config.drainSec * 1000);
  } finally {
    await close({ app, connections, hub, log });
    await closeWorld();
  }
}

/** The sample catalog gets its own database, so that it never mixes with a real catalog. */
function withDemoDatabase(environment: Environment): Environment {
  const isChosen = ['DATABASE_URL', 'DB_PATH'].some((name) => environment[name]?.trim());
  return isChosen
    ? environment
    : { ...environment, DB_PATH: join(environment.DATA_DIR?.trim() || './data', 'demo.sqlite') };
}

async function readTls({ certFile, keyFile }: NonNullable<Config['tls']>): Promise<TlsIdentity> {
  const cert = await readPem('TLS_CERT_FILE', certFile);
  const key = await readPem('TLS_KEY_FILE', keyFile);
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new SettingError(
      `TLS_CERT_FILE is '${certFile}' and TLS_KEY_FILE is '${keyFile}', but they must be a certificate and its key in PEM form (${(error as NodeJS.ErrnoException).code ?? 'unreadable'}).`,
    );
  }
  return { cert, key };
}

async function readPem(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new SettingError(
      `${setting} is '${path}', but must be a readable file (${(error as NodeJS.ErrnoException).code}).`,
    );
  }
}

async function listen(app: FastifyInstance, { host, port }: Config, say: ServeOptions['say']): Promise<number> {
  await app.ready();
  const first = port ?? STANDARD_PORT;
  const failure = await tryListen(app, host, first);
  if (failure === undefined) return (app.server.address() as AddressInfo).port;
  if (HOST_FAILURES.includes(failure)) {
    throw new SettingError(`HOST is '${host}', but must be an address of this machine (${failure}).`);
  }
  if (port !== undefined || LISTEN_FAILURES[failure] === undefined) {
    const reason = LISTEN_FAILURES[failure] ?? 'cannot be listened on';
    throw new StartError(`PORT is '${first}', but ${host}:${first} ${reason} (${failure}): set PORT to a free one.`);
  }
  say(
    `Port ${STANDARD_PORT} ${LISTEN_FAILURES[failure]}, so the hub uses ${FALLBACK_PORT}; set PORT to choose another.`,
  );
  const second = await tryListen(app, host, FALLBACK_PORT);
  if (second === undefined) return FALLBACK_PORT;
  throw new StartError(
    `The hub cannot listen on port ${STANDARD_PORT} or ${FALLBACK_PORT} (${second}); set PORT to a free one.`,
  );
}

/** Resolves to the error's code, or to undefined once the app listens. */
async function tryListen(app: FastifyInstance, host: string, port: number): Promise<string | undefined> {
  try {
    await app.listen({ host, port });
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

function announce({
  config,
  address,
  say,
  log,
}: {
  config: Config;
  address: string;
  say: ServeOptions['say'];
  log: ClosableLogger;
}): void {
  const isProtected = config.adminToken !== undefined || config.oidc !== undefined;
  const how = config.adminToken ? 'protected by API_TOKEN' : 'protected by OIDC_ISSUER';
  const access = isProtected ? how : 'open (API_TOKEN is not set)';
  say(
    `Catalog Hub ${VERSION} listens on ${address}${isAnyHost(config.host) ? ' and every other address of this machine' : ''} · database: ${describeDatabase(config.database)} · access: ${access}`,
  );
  if (!isProtected && !isLoopbackHost(config.host)) {
    log.warn(
      { host: config.host },
      'Anyone who can reach this address can change the catalog and install: set API_TOKEN',
    );
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

interface Started {
  app: FastifyInstance | undefined;
  connections: Connections | undefined;
  hub: Hub;
  log: ClosableLogger;
}

async function close({ app, connections, hub, log }: Started): Promise<void> {
  const hasStarted = app?.server.listening === true;
  const cutOff = setTimeout(() => connections?.endAll(), GRACE_MS).unref();
  // Repeated, because a connection becomes idle only when its last request ends.
  const sweep = setInterval(() => connections?.endIdle(), SWEEP_MS).unref();
  // Stopped first, because a sync can take minutes; its caller gets a partial result.
  await hub.stopWork();
  await app?.close();
  clearInterval(sweep);
  clearTimeout(cutOff);
  await hub.close();
  if (hasStarted) log.info({}, 'The hub has stopped');
  log.flush();
}
