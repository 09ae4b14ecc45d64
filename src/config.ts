// Converts the environment to a frozen Config with domain names.
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { OidcSettings } from './access/json-web-tokens.ts';
import { SettingError } from './errors.ts';
import { type DatabaseAddress, isLoopbackHost } from './lib/net/address.ts';
import { remoteCredentials } from './remote-credentials.ts';
import { type Environment, parseSettings, type Settings, secretsOf } from './settings.ts';

export type { Environment } from './settings.ts';

export type Config = Readonly<ReturnType<typeof configFrom>>;

/** @throws SettingError when a setting is invalid. */
export function readConfig(environment: Environment): Config {
  const config = configFrom(parseSettings(environment));
  // Nested objects too, so that `config.search.mode` cannot be changed either.
  for (const group of Object.values(config)) Object.freeze(group);
  return Object.freeze(config);
}

function configFrom(settings: Settings) {
  return {
    host: settings.HOST,
    /** Undefined: 443, or the fallback port. */
    port: settings.PORT,
    baseUrl: settings.BASE_URL,
    tls: tlsFiles(settings),
    trustedProxies: settings.TRUST_PROXY,
    adminToken: settings.API_TOKEN,
    metricsToken: settings.METRICS_TOKEN,
    /** The values of all secret settings, for removing them from texts. */
    secrets: secretsOf(settings),
    /** Whether reads need a token too. */
    readsNeedToken: readsNeedToken(settings),
    oidc: oidcSettings(settings),
    maxBodyBytes: settings.MAX_BODY_BYTES,
    requestTimeoutSec: settings.REQUEST_TIMEOUT_SEC,
    rateLimitPerMinute: settings.RATE_LIMIT_PER_MINUTE,
    /** How long requests are still served after the stop signal. */
    drainSec: settings.DRAIN_SEC,
    logLevel: settings.LOG_LEVEL,
    /** How long the hub waits for the database at startup. */
    databaseWaitSec: settings.DATABASE_WAIT_SEC,
    database: databaseAddress(settings),
    seedRemotes: settings.HUB_REMOTES,
    /** A file with the admission policy, instead of the API. */
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
    /** Hosts, with an optional path, for which installs may use the operator's credentials. */
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
  };
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

function gatewaySettings(settings: Settings) {
  if (!settings.MCP_GATEWAY_URL) return undefined;
  const username = settings.BASIC_AUTH_USERNAME;
  return {
    url: settings.MCP_GATEWAY_URL,
    token: settings.MCP_GATEWAY_TOKEN,
    jwtSecret: settings.JWT_SECRET_KEY,
    /** Gateways identify users by email address; the basic login need not be one. */
    subject: username?.includes('@') ? username : settings.GATEWAY_ADMIN_EMAIL,
    issuer: settings.GATEWAY_TOKEN_ISSUER,
    audience: settings.GATEWAY_TOKEN_AUDIENCE,
    concurrency: settings.GATEWAY_CONCURRENCY,
    slowTimeoutMs: settings.GATEWAY_TIMEOUT_SEC * 1000,
    timeoutMs: settings.GATEWAY_CALL_TIMEOUT_SEC * 1000,
  };
}

function tlsFiles({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: Settings) {
  if (certFile && keyFile) return { certFile, keyFile };
  if (certFile) throw alone('TLS_CERT_FILE', 'TLS_KEY_FILE');
  if (keyFile) throw alone('TLS_KEY_FILE', 'TLS_CERT_FILE');
  return undefined;
}

function searchSettings(settings: Settings) {
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
    /** Where the index is saved between restarts. */
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

function modelEndpoint(prefix: string, baseUrl?: string, model?: string, apiKey?: string) {
  if (!baseUrl) return undefined;
  if (!model) throw alone(`${prefix}_BASE_URL`, `${prefix}_MODEL`);
  return { baseUrl, model, apiKey };
}

function llmEndpoint(settings: Settings) {
  const endpoint = modelEndpoint('LLM', settings.LLM_BASE_URL, settings.LLM_MODEL, settings.LLM_API_KEY);
  return endpoint && { ...endpoint, timeoutMs: settings.LLM_TIMEOUT_SEC * 1000 };
}

function alone(setting: string, missing: string): SettingError {
  return new SettingError(`${missing} is not set, but ${setting} is: set both or neither.`, { setting });
}
