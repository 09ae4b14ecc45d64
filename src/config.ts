// Converts the environment to a frozen Config with domain names.
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { OidcSettings } from './access/json-web-tokens.ts';
import { SettingError } from './errors.ts';
import { type DatabaseAddress, isLoopbackHost } from './lib/net/address.ts';
import { type RemoteCredential, remoteCredentials } from './remote-credentials.ts';
import { type Environment, parseSettings, type Settings } from './settings.ts';

export type { Environment } from './settings.ts';

export interface Config {
  readonly host: string;
  /** Undefined: 443, or the fallback port. */
  readonly port: number | undefined;
  readonly baseUrl: string | undefined;
  readonly tls: Readonly<{ certFile: string; keyFile: string }> | undefined;
  readonly trustedProxies: number;
  readonly adminToken: string | undefined;
  readonly metricsToken: string | undefined;
  /** Whether reads need a token too. */
  readonly readsNeedToken: boolean;
  readonly oidc: OidcSettings | undefined;
  /** The age in days at which entries of the audit log are deleted. */
  readonly auditDays: number | undefined;
  readonly maxBodyBytes: number;
  readonly requestTimeoutSec: number;
  readonly rateLimitPerMinute: number;
  /** How long requests are still served after the stop signal. */
  readonly drainSec: number;
  readonly logLevel: Settings['LOG_LEVEL'];
  readonly database: Readonly<DatabaseAddress>;
  /** How long the hub waits for the database at startup. */
  readonly databaseWaitSec: number;
  readonly seedRemotes: readonly string[];
  readonly remoteCredentials: readonly RemoteCredential[];
  /** A file with the admission policy, instead of the API. */
  readonly policyFile: string | undefined;
  readonly trust: Readonly<{
    npmRegistry: string;
    pypiIndex: string;
    rootFile: string | undefined;
    verifyingRemotes: readonly string[];
    checksApprovals: boolean;
  }>;
  readonly ingest: {
    intervalMin: number;
    maxIndexBytes: number;
    maxManifestBytes: number;
    requestTimeoutSec: number;
    requestsPerHost: number;
    remoteTimeoutMin: number;
  };
  readonly allowPrivateNetwork: boolean;
  readonly installRoot: string | undefined;
  /** Hosts, with an optional path, for which installs may use the operator's credentials. */
  readonly installCredentialsFor: readonly string[];
  readonly installConcurrency: number;
  readonly search: Readonly<{
    profile: Settings['SEARCH_PROFILE'];
    mode: Settings['SEARCH_MODE'];
    rerank: Settings['SEARCH_RERANK'];
    backend: Settings['SEARCH_BACKEND'];
    memoryMaxEntities: number;
    /** Where the index is saved between restarts. */
    indexPath: string;
  }>;
  readonly embedding: ModelEndpoint | undefined;
  readonly llm: (ModelEndpoint & { readonly timeoutMs: number }) | undefined;
  readonly gateway: GatewaySettings | undefined;
}

interface GatewaySettings {
  readonly url: string;
  readonly token?: string;
  readonly jwtSecret?: string;
  /** Email address of a user that the gateway knows. */
  readonly subject: string;
  readonly issuer: string;
  readonly audience: string;
  readonly concurrency: number;
  readonly slowTimeoutMs: number;
  readonly timeoutMs: number;
}

interface ModelEndpoint {
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string;
}

/** @throws SettingError when a setting is invalid. */
export function readConfig(environment: Environment): Config {
  const settings = parseSettings(environment);
  return frozen({
    host: settings.HOST,
    port: settings.PORT,
    baseUrl: settings.BASE_URL,
    tls: tlsFiles(settings),
    trustedProxies: settings.TRUST_PROXY,
    adminToken: settings.API_TOKEN,
    metricsToken: settings.METRICS_TOKEN,
    readsNeedToken: readsNeedToken(settings),
    oidc: oidcSettings(settings),
    auditDays: settings.AUDIT_DAYS,
    maxBodyBytes: settings.MAX_BODY_BYTES,
    requestTimeoutSec: settings.REQUEST_TIMEOUT_SEC,
    rateLimitPerMinute: settings.RATE_LIMIT_PER_MINUTE,
    drainSec: settings.DRAIN_SEC,
    logLevel: settings.LOG_LEVEL,
    databaseWaitSec: settings.DATABASE_WAIT_SEC,
    database: databaseAddress(settings),
    seedRemotes: settings.HUB_REMOTES,
    policyFile: settings.POLICY_FILE && resolve(settings.POLICY_FILE),
    remoteCredentials: remoteCredentials(settings),
    trust: {
      npmRegistry: settings.TRUST_NPM_REGISTRY,
      pypiIndex: settings.TRUST_PYPI_INDEX,
      rootFile: settings.TRUST_ROOT_FILE && resolve(settings.TRUST_ROOT_FILE),
      verifyingRemotes: settings.TRUST_NAMESPACES_OF,
      checksApprovals: settings.TRUST_CHECKS === 'approvals',
    },
    ingest: {
      intervalMin: settings.INGEST_INTERVAL_MIN,
      maxIndexBytes: settings.MAX_INDEX_BYTES,
      maxManifestBytes: settings.MAX_MANIFEST_BYTES,
      requestTimeoutSec: settings.FETCH_TIMEOUT_SEC,
      requestsPerHost: settings.FETCH_PER_HOST,
      remoteTimeoutMin: settings.REMOTE_TIMEOUT_MIN,
    },
    allowPrivateNetwork: settings.ALLOW_PRIVATE_NETWORK ?? isLoopbackHost(settings.HOST),
    installRoot: settings.INSTALL_ROOT && resolve(settings.INSTALL_ROOT),
    installCredentialsFor: settings.INSTALL_CREDENTIALS_FOR,
    installConcurrency: settings.INSTALL_CONCURRENCY,
    search: searchSettings(settings),
    embedding: modelEndpoint(
      'EMBEDDING',
      settings.EMBEDDING_BASE_URL,
      settings.EMBEDDING_MODEL,
      settings.EMBEDDING_API_KEY,
    ),
    llm: llmEndpoint(settings),
    gateway: gatewaySettings(settings),
  });
}

function readsNeedToken({ READ_ACCESS, API_TOKEN, OIDC_ISSUER }: Settings): boolean {
  if (READ_ACCESS === 'open') return false;
  if (API_TOKEN || OIDC_ISSUER) return true;
  const reason = 'READ_ACCESS is token, but neither API_TOKEN nor OIDC_ISSUER is set: nobody could read anything.';
  throw new SettingError(reason, { setting: 'READ_ACCESS' });
}

function oidcSettings(settings: Settings): OidcSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_AUDIENCE: audience } = settings;
  if (!issuer) return undefined;
  if (!audience) throw alone('OIDC_ISSUER', 'OIDC_AUDIENCE');
  return { issuer, audience, roleClaim: settings.OIDC_ROLE_CLAIM, roles: settings.OIDC_ROLES };
}

function gatewaySettings(settings: Settings): GatewaySettings | undefined {
  if (!settings.MCP_GATEWAY_URL) return undefined;
  const username = settings.BASIC_AUTH_USERNAME;
  return {
    url: settings.MCP_GATEWAY_URL,
    token: settings.MCP_GATEWAY_TOKEN,
    jwtSecret: settings.JWT_SECRET_KEY,
    // Gateways identify users by email address; the basic login need not be one.
    subject: username?.includes('@') ? username : settings.GATEWAY_ADMIN_EMAIL,
    issuer: settings.GATEWAY_TOKEN_ISSUER,
    audience: settings.GATEWAY_TOKEN_AUDIENCE,
    concurrency: settings.GATEWAY_CONCURRENCY,
    slowTimeoutMs: settings.GATEWAY_TIMEOUT_SEC * 1000,
    timeoutMs: settings.GATEWAY_CALL_TIMEOUT_SEC * 1000,
  };
}

/** Freezes nested objects too, so that `config.search.mode` cannot be changed either. */
function frozen(config: Config): Config {
  for (const group of Object.values(config)) Object.freeze(group);
  return Object.freeze(config);
}

function tlsFiles({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: Settings): Config['tls'] {
  if (certFile && keyFile) return { certFile, keyFile };
  if (certFile) throw alone('TLS_CERT_FILE', 'TLS_KEY_FILE');
  if (keyFile) throw alone('TLS_KEY_FILE', 'TLS_CERT_FILE');
  return undefined;
}

function searchSettings(settings: Settings): Config['search'] {
  const backend = settings.SEARCH_BACKEND;
  if (backend === 'postgres' && !settings.DATABASE_URL) {
    const reason =
      'SEARCH_BACKEND is postgres, but DATABASE_URL is not set: set DATABASE_URL, or set SEARCH_BACKEND to memory or auto.';
    throw new SettingError(reason, { setting: 'SEARCH_BACKEND' });
  }
  return {
    profile: settings.SEARCH_PROFILE,
    mode: settings.SEARCH_MODE,
    rerank: settings.SEARCH_RERANK,
    backend,
    memoryMaxEntities: settings.SEARCH_MEMORY_MAX_ENTITIES,
    indexPath: searchIndexPath(settings),
  };
}

function databaseAddress(settings: Settings): DatabaseAddress {
  if (settings.DATABASE_URL) {
    return {
      engine: 'postgres',
      url: settings.DATABASE_URL,
      ...(settings.DATABASE_READ_URL && { readUrl: settings.DATABASE_READ_URL }),
      poolSize: settings.DATABASE_POOL_SIZE,
    };
  }
  return { engine: 'sqlite', path: resolve(settings.DB_PATH ?? `${settings.DATA_DIR}/catalog.sqlite`) };
}

/** Next to the SQLite file; for PostgreSQL, one file per database in `DATA_DIR`. */
function searchIndexPath(settings: Settings): string {
  const address = databaseAddress(settings);
  if (address.engine === 'sqlite') return `${address.path}.search-index`;
  const database = createHash('sha256').update(address.url).digest('hex').slice(0, 12);
  return resolve(settings.DATA_DIR, `${database}.search-index`);
}

function modelEndpoint(prefix: string, baseUrl?: string, model?: string, apiKey?: string): ModelEndpoint | undefined {
  if (!baseUrl) return undefined;
  if (!model) throw alone(`${prefix}_BASE_URL`, `${prefix}_MODEL`);
  return { baseUrl, model, apiKey };
}

function llmEndpoint(settings: Settings): Config['llm'] {
  const endpoint = modelEndpoint('LLM', settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY);
  return endpoint && { ...endpoint, timeoutMs: settings.LLM_TIMEOUT_SEC * 1000 };
}

function alone(setting: string, missing: string): SettingError {
  return new SettingError(`${missing} is not set, but ${setting} is: set both or neither.`, { setting });
}
