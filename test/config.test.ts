import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { type Config, type Environment, readConfig } from '../src/config.ts';
import { SettingError } from '../src/errors.ts';
import { isSecret, SETTINGS } from '../src/settings.ts';

test('settings: without any, the hub is local and uses SQLite', () => {
  assert.deepEqual(readConfig({}), {
    host: '127.0.0.1',
    port: undefined,
    baseUrl: undefined,
    tls: undefined,
    trustedProxies: 0,
    adminToken: undefined,
    metricsToken: undefined,
    secrets: [],
    readsNeedToken: false,
    oidc: undefined,
    maxBodyBytes: 1_048_576,
    requestTimeoutSec: 30,
    rateLimitPerMinute: 0,
    drainSec: 0,
    logLevel: 'info',
    databaseWaitSec: 60,
    database: { engine: 'sqlite', path: resolve('data/catalog.sqlite') },
    seedRemotes: [],
    policyFile: undefined,
    trust: {
      npmRegistry: 'https://registry.npmjs.org',
      pypiIndex: 'https://pypi.org',
      rootFile: undefined,
      verifyingRemotes: ['https://registry.modelcontextprotocol.io/'],
      checksApprovals: false,
    },
    remoteCredentials: [],
    ingest: {
      intervalMin: 0,
      maxIndexBytes: 268_435_456,
      maxManifestBytes: 1_048_576,
      requestTimeoutSec: 20,
      requestsPerHost: 32,
      remoteTimeoutMin: 60,
    },
    allowPrivateNetwork: true,
    installRoot: undefined,
    installCredentialsFor: [],
    installConcurrency: 4,
    search: {
      profile: 'general',
      mode: 'hybrid',
      rerank: 'none',
      backend: 'auto',
      memoryMaxEntities: 300_000,
      indexPath: resolve('data/catalog.sqlite.search-index'),
    },
    embedding: undefined,
    llm: undefined,
    gateway: undefined,
  });
});

const CREDENTIALS_FILE = join(mkdtempSync(join(tmpdir(), 'hub-test-')), 'credentials.json');
writeFileSync(CREDENTIALS_FILE, '{"https://a.example": {"header": "Authorization: Bearer t"}}');
after(() => rmSync(dirname(CREDENTIALS_FILE), { recursive: true }));

interface GoodValue {
  read: (config: Config) => unknown;
  values: Record<string, unknown>;
  /** Other settings that this one requires. */
  beside?: Environment;
}

const YES_OR_NO = { true: true, FALSE: false, '1': true, '0': false, Yes: true, no: false, on: true, off: false };
const ADDRESSES = { 'https://a.example/': 'https://a.example', 'http://a.example/v1//': 'http://a.example/v1' };
const POSTGRES = 'postgres://hub:hunter2@db.example:5433/catalog';
const GATEWAY = { MCP_GATEWAY_URL: 'https://gateway.example' };
const OIDC = { OIDC_ISSUER: 'https://login.example', OIDC_AUDIENCE: 'hub' };
const EMBEDDING = { EMBEDDING_BASE_URL: 'https://models.example/v1', EMBEDDING_MODEL: 'small' };
const LLM = { LLM_BASE_URL: 'https://models.example/v1', LLM_MODEL: 'large' };

const GOOD: Record<keyof typeof SETTINGS.shape, GoodValue> = {
  HOST: { read: ({ host }) => host, values: { '0.0.0.0': '0.0.0.0', '::1': '::1' } },
  PORT: { read: ({ port }) => port, values: { 0: 0, 443: 443, 65535: 65_535 } },
  BASE_URL: { read: ({ baseUrl }) => baseUrl, values: ADDRESSES },
  TLS_CERT_FILE: { read: ({ tls }) => tls?.certFile, values: { 'a.pem': 'a.pem' }, beside: { TLS_KEY_FILE: 'b' } },
  TLS_KEY_FILE: { read: ({ tls }) => tls?.keyFile, values: { 'a.pem': 'a.pem' }, beside: { TLS_CERT_FILE: 'b' } },
  TRUST_PROXY: {
    read: ({ trustedProxies }) => trustedProxies,
    values: { true: 1, FALSE: 0, '1': 1, '0': 0, Yes: 1, no: 0, on: 1, off: 0, 2: 2, 9: 9 },
  },
  API_TOKEN: { read: ({ adminToken }) => adminToken, values: { 'Token=': 'Token=' } },
  READ_ACCESS: {
    read: ({ readsNeedToken }) => readsNeedToken,
    values: { open: false, Token: true },
    beside: { API_TOKEN: 'a' },
  },
  OIDC_ISSUER: { read: ({ oidc }) => oidc?.issuer, values: ADDRESSES, beside: { OIDC_AUDIENCE: 'hub' } },
  OIDC_AUDIENCE: { read: ({ oidc }) => oidc?.audience, values: { hub: 'hub' }, beside: OIDC },
  OIDC_ROLE_CLAIM: { read: ({ oidc }) => oidc?.roleClaim, values: { groups: 'groups' }, beside: OIDC },
  OIDC_ROLES: {
    read: ({ oidc }) => oidc?.roles,
    values: { 'a=b=admin, devs=installer': { 'a=b': 'admin', devs: 'installer' } },
    beside: OIDC,
  },
  METRICS_TOKEN: { read: ({ metricsToken }) => metricsToken, values: { 'Token=': 'Token=' } },
  MAX_BODY_BYTES: { read: ({ maxBodyBytes }) => maxBodyBytes, values: { 1024: 1024, 1073741824: 1_073_741_824 } },
  REQUEST_TIMEOUT_SEC: { read: ({ requestTimeoutSec }) => requestTimeoutSec, values: { 1: 1, 3600: 3600 } },
  RATE_LIMIT_PER_MINUTE: { read: ({ rateLimitPerMinute }) => rateLimitPerMinute, values: { 0: 0, 1000000: 1_000_000 } },
  DRAIN_SEC: { read: ({ drainSec }) => drainSec, values: { 0: 0, 300: 300 } },
  LOG_LEVEL: { read: ({ logLevel }) => logLevel, values: { debug: 'debug', WARN: 'warn', silent: 'silent' } },
  DATABASE_URL: {
    read: ({ database }) => database,
    values: { [POSTGRES]: { engine: 'postgres', url: POSTGRES, poolSize: 10 } },
  },
  DATABASE_READ_URL: {
    read: ({ database }) => database.engine === 'postgres' && database.readUrl,
    values: { [POSTGRES]: POSTGRES },
    beside: { DATABASE_URL: POSTGRES },
  },
  DATABASE_WAIT_SEC: { read: ({ databaseWaitSec }) => databaseWaitSec, values: { 0: 0, 3600: 3600 } },
  DATABASE_POOL_SIZE: {
    read: ({ database }) => database.engine === 'postgres' && database.poolSize,
    values: { 1: 1, 200: 200 },
    beside: { DATABASE_URL: POSTGRES },
  },
  DB_PATH: {
    read: ({ database }) => database,
    values: { 'x/y.db': { engine: 'sqlite', path: resolve('x/y.db') }, '/y.db': { engine: 'sqlite', path: '/y.db' } },
    beside: { DATA_DIR: '/elsewhere' },
  },
  DATA_DIR: {
    read: ({ database }) => database,
    values: { '/var/hub/': { engine: 'sqlite', path: '/var/hub/catalog.sqlite' } },
  },
  HUB_REMOTES: { read: ({ seedRemotes }) => seedRemotes, values: { 'https://a.example': ['https://a.example/'] } },
  REMOTE_CREDENTIALS: {
    read: ({ remoteCredentials }) => remoteCredentials,
    values: {
      '{"https://a.example/private": {"header": "X-Key: a b"}}': [
        { prefix: 'https://a.example/private/', header: 'x-key', value: 'a b' },
      ],
      '{"http://a.example": {"username": "me", "password": "p:w"}}': [
        { prefix: 'http://a.example/', header: 'authorization', value: 'Basic bWU6cDp3' },
      ],
    },
  },
  REMOTE_CREDENTIALS_FILE: {
    read: ({ remoteCredentials }) => remoteCredentials,
    values: { [CREDENTIALS_FILE]: [{ prefix: 'https://a.example/', header: 'authorization', value: 'Bearer t' }] },
  },
  INGEST_INTERVAL_MIN: { read: ({ ingest }) => ingest.intervalMin, values: { 0: 0, 20160: 20_160 } },
  MAX_INDEX_BYTES: { read: ({ ingest }) => ingest.maxIndexBytes, values: { 1024: 1024, 500000000: 500_000_000 } },
  MAX_MANIFEST_BYTES: { read: ({ ingest }) => ingest.maxManifestBytes, values: { 1024: 1024 } },
  FETCH_TIMEOUT_SEC: { read: ({ ingest }) => ingest.requestTimeoutSec, values: { 1: 1, 3600: 3600 } },
  FETCH_PER_HOST: { read: ({ ingest }) => ingest.requestsPerHost, values: { 1: 1, 64: 64 } },
  REMOTE_TIMEOUT_MIN: { read: ({ ingest }) => ingest.remoteTimeoutMin, values: { 1: 1, 1440: 1440 } },
  ALLOW_PRIVATE_NETWORK: { read: ({ allowPrivateNetwork }) => allowPrivateNetwork, values: YES_OR_NO },
  TRUST_CHECKS: {
    read: ({ trust }) => trust.checksApprovals,
    values: { request: false, approvals: true },
  },
  TRUST_NPM_REGISTRY: {
    read: ({ trust }) => trust.npmRegistry,
    values: { 'https://npm.example.org/': 'https://npm.example.org' },
  },
  TRUST_PYPI_INDEX: {
    read: ({ trust }) => trust.pypiIndex,
    values: { 'https://pypi.example.org': 'https://pypi.example.org' },
  },
  TRUST_ROOT_FILE: { read: ({ trust }) => trust.rootFile, values: { 'root.json': resolve('root.json') } },
  TRUST_NAMESPACES_OF: {
    read: ({ trust }) => trust.verifyingRemotes,
    values: { 'https://registry.example.org/v0': ['https://registry.example.org/v0'] },
  },
  POLICY_FILE: { read: ({ policyFile }) => policyFile, values: { 'policy.yaml': resolve('policy.yaml') } },
  INSTALL_ROOT: { read: ({ installRoot }) => installRoot, values: { projects: resolve('projects'), '/srv': '/srv' } },
  INSTALL_CREDENTIALS_FOR: {
    read: ({ installCredentialsFor }) => installCredentialsFor.join(' '),
    values: { 'git.example.com, ghcr.io/team/': 'git.example.com ghcr.io/team', 'localhost:5000': 'localhost:5000' },
  },
  INSTALL_CONCURRENCY: { read: ({ installConcurrency }) => installConcurrency, values: { 1: 1, 64: 64 } },
  SEARCH_PROFILE: { read: ({ search }) => search.profile, values: { general: 'general', Public: 'public' } },
  SEARCH_MODE: { read: ({ search }) => search.mode, values: { KEYWORD: 'keyword', semantic: 'semantic' } },
  SEARCH_RERANK: { read: ({ search }) => search.rerank, values: { none: 'none', LLM: 'llm' } },
  SEARCH_BACKEND: {
    read: ({ search }) => search.backend,
    values: { auto: 'auto', Memory: 'memory', postgres: 'postgres' },
    beside: { DATABASE_URL: POSTGRES },
  },
  SEARCH_MEMORY_MAX_ENTITIES: { read: ({ search }) => search.memoryMaxEntities, values: { 0: 0, 1000: 1_000 } },
  EMBEDDING_BASE_URL: { read: ({ embedding }) => embedding?.baseUrl, values: ADDRESSES, beside: EMBEDDING },
  EMBEDDING_MODEL: { read: ({ embedding }) => embedding?.model, values: { tiny: 'tiny' }, beside: EMBEDDING },
  EMBEDDING_API_KEY: { read: ({ embedding }) => embedding?.apiKey, values: { 'K-1': 'K-1' }, beside: EMBEDDING },
  LLM_BASE_URL: { read: ({ llm }) => llm?.baseUrl, values: ADDRESSES, beside: LLM },
  LLM_MODEL: { read: ({ llm }) => llm?.model, values: { tiny: 'tiny' }, beside: LLM },
  LLM_API_KEY: { read: ({ llm }) => llm?.apiKey, values: { 'K-1': 'K-1' }, beside: LLM },
  LLM_TIMEOUT_SEC: { read: ({ llm }) => llm?.timeoutMs, values: { 1: 1000, 300: 300_000 }, beside: LLM },
  MCP_GATEWAY_URL: { read: ({ gateway }) => gateway?.url, values: ADDRESSES },
  MCP_GATEWAY_TOKEN: { read: ({ gateway }) => gateway?.token, values: { 'T-1': 'T-1' }, beside: GATEWAY },
  JWT_SECRET_KEY: { read: ({ gateway }) => gateway?.jwtSecret, values: { 'S-1': 'S-1' }, beside: GATEWAY },
  GATEWAY_ADMIN_EMAIL: {
    read: ({ gateway }) => gateway?.subject,
    values: { 'a@b.example': 'a@b.example' },
    beside: GATEWAY,
  },
  GATEWAY_TOKEN_ISSUER: { read: ({ gateway }) => gateway?.issuer, values: { us: 'us' }, beside: GATEWAY },
  GATEWAY_TOKEN_AUDIENCE: { read: ({ gateway }) => gateway?.audience, values: { them: 'them' }, beside: GATEWAY },
  GATEWAY_CONCURRENCY: { read: ({ gateway }) => gateway?.concurrency, values: { 1: 1, 64: 64 }, beside: GATEWAY },
  GATEWAY_TIMEOUT_SEC: { read: ({ gateway }) => gateway?.slowTimeoutMs, values: { 3: 3000 }, beside: GATEWAY },
  GATEWAY_CALL_TIMEOUT_SEC: { read: ({ gateway }) => gateway?.timeoutMs, values: { 3: 3000 }, beside: GATEWAY },
  BASIC_AUTH_USERNAME: {
    read: ({ gateway }) => gateway?.subject,
    values: { 'a@b.example': 'a@b.example' },
    beside: GATEWAY,
  },
};
for (const [name, { read, values, beside }] of Object.entries(GOOD)) {
  test(`settings: ${name} is read from ${Object.keys(values).join(', ')}, and blank counts as unset`, () => {
    for (const [text, expected] of Object.entries(values)) {
      assert.deepEqual(read(readConfig({ ...beside, [name]: text })), expected);
      assert.deepEqual(read(readConfig({ ...beside, [name]: ` ${text}\r\n` })), expected);
    }
    const { [name]: _, ...others } = { ...beside };
    const outcome = (environment: Environment) => attempt(() => readConfig(environment));
    for (const blank of ['', ' \t\r\n', undefined]) {
      assert.deepEqual(outcome({ ...others, [name]: blank }), outcome(others));
    }
  });
}

const BAD: [name: string, values: string[], wants: string][] = [
  [
    'PORT',
    ['-1', '65536', '80.5', 'http', 'NaN', '1e3', '0x1F90', '1e400', '4 43', 'true'],
    'a whole number from 0 to 65535',
  ],
  [
    'BASE_URL',
    ['hub.example', 'ftp://hub.example', 'https://', '//hub.example', 'https:hub'],
    'an http or https address',
  ],
  ['BASE_URL', ['https://h/?a=b', 'https://h#a'], 'an http or https address without credentials, query or fragment'],
  ['TRUST_PROXY', ['maybe', '-1', '10', '1.5', 'y'], 'a number of proxies from 0 to 9, true or false'],
  ['MAX_BODY_BYTES', ['1023', '1073741825', '1MB'], 'a whole number from 1024 to 1073741824'],
  ['REQUEST_TIMEOUT_SEC', ['0', '3601', '30s'], 'a whole number from 1 to 3600'],
  ['RATE_LIMIT_PER_MINUTE', ['-1', '1000001'], 'a whole number from 0 to 1000000'],
  ['LOG_LEVEL', ['verbose', 'trace'], 'one of debug, info, warn, error, silent'],
  ['DRAIN_SEC', ['-1', '301'], 'a whole number from 0 to 300'],
  ['DATABASE_WAIT_SEC', ['-1', '3601'], 'a whole number from 0 to 3600'],
  ['DATABASE_POOL_SIZE', ['0', '201'], 'a whole number from 1 to 200'],
  ['INGEST_INTERVAL_MIN', ['-5', '20161', 'daily'], 'a whole number from 0 to 20160'],
  ['ALLOW_PRIVATE_NETWORK', ['sometimes'], 'true or false'],
  ['SEARCH_PROFILE', ['private'], 'one of general, public'],
  ['SEARCH_MODE', ['fast'], 'one of keyword, semantic, hybrid'],
  ['SEARCH_RERANK', ['yes'], 'one of none, llm'],
  ['SEARCH_BACKEND', ['sqlite'], 'one of auto, memory, postgres'],
  ['SEARCH_MEMORY_MAX_ENTITIES', ['-1'], 'a whole number from 0 to 1000000000'],
  ['EMBEDDING_BASE_URL', ['models.example'], 'an http or https address'],
  ['LLM_BASE_URL', ['file:///model'], 'an http or https address'],
  ['MCP_GATEWAY_URL', ['gateway:4444'], 'an http or https address'],
];
for (const [name, values, wants] of BAD) {
  test(`settings: ${name} is refused unless it is ${wants}`, () => {
    for (const value of values) {
      assert.equal(refusal({ [name]: value }), `${name} is '${value}', but must be ${wants}.`);
    }
  });
}

const ONE_WITHOUT_THE_OTHER: [environment: Environment, line: string][] = [
  [{ TLS_CERT_FILE: 'a.pem' }, 'TLS_KEY_FILE is not set, but TLS_CERT_FILE is: set both or neither.'],
  [
    { TLS_KEY_FILE: 'a.pem', TLS_CERT_FILE: ' ' },
    'TLS_CERT_FILE is not set, but TLS_KEY_FILE is: set both or neither.',
  ],
  [
    { ...EMBEDDING, EMBEDDING_MODEL: '' },
    'EMBEDDING_MODEL is not set, but EMBEDDING_BASE_URL is: set both or neither.',
  ],
  [{ OIDC_ISSUER: 'https://login.example' }, 'OIDC_AUDIENCE is not set, but OIDC_ISSUER is: set both or neither.'],
  [
    { READ_ACCESS: 'token' },
    'READ_ACCESS is token, but neither API_TOKEN nor OIDC_ISSUER is set: nobody could read anything.',
  ],
  [{ ...LLM, LLM_MODEL: '' }, 'LLM_MODEL is not set, but LLM_BASE_URL is: set both or neither.'],
];
for (const [environment, line] of ONE_WITHOUT_THE_OTHER) {
  test(`settings: ${line}`, () => assert.equal(refusal(environment), line));
}

test('settings: groups must be complete', () => {
  const stray = readConfig({ MCP_GATEWAY_TOKEN: 'T-1', LLM_API_KEY: 'K-1', LLM_MODEL: 'm', EMBEDDING_API_KEY: 'K-2' });
  assert.deepEqual([stray.gateway, stray.llm, stray.embedding], [undefined, undefined, undefined]);
});

test('settings: a hub that only its machine can reach may access private networks by default', () => {
  for (const HOST of ['127.0.0.1', 'localhost', '::1']) assert.equal(readConfig({ HOST }).allowPrivateNetwork, true);
  for (const HOST of ['0.0.0.0', '::', 'hub.example']) assert.equal(readConfig({ HOST }).allowPrivateNetwork, false);
  assert.equal(readConfig({ HOST: '0.0.0.0', ALLOW_PRIVATE_NETWORK: 'true' }).allowPrivateNetwork, true);
  assert.equal(readConfig({ ALLOW_PRIVATE_NETWORK: 'false' }).allowPrivateNetwork, false);
});

const TWO = ['https://a.example/index.json', 'https://b.example/'];
const LISTS: [sentence: string, text: string, remotes: string[]][] = [
  ['CSV', 'https://a.example/index.json,https://b.example', TWO],
  ['CSV with spaces and gaps', ' https://a.example/index.json , ,, https://b.example ,', TWO],
  ['one per line', 'https://a.example/index.json\n  https://b.example\r\n', TWO],
  ['a JSON array', '["https://a.example/index.json", "https://b.example", ""]', TWO],
  ['an array without quotes', '[https://a.example/index.json, https://b.example]', TWO],
  ['an array with single quotes', '[\'https://a.example/index.json\', "https://b.example"]', TWO],
  ['a list with duplicates', 'https://a.example/index.json,HTTPS://B.example:443,https://b.example/', [...TWO]],
  ['one address in quotes', '"https://b.example"', ['https://b.example/']],
  ['an IPv6 address', 'http://[::1]:8080,http://[::1]', ['http://[::1]:8080/', 'http://[::1]/']],
  ['an empty array', '[]', []],
  ['only commas', ' , ,', []],
];
for (const [sentence, text, remotes] of LISTS) {
  test(`settings: HUB_REMOTES may be ${sentence}`, () =>
    assert.deepEqual(readConfig({ HUB_REMOTES: text }).seedRemotes, remotes));
}

test('settings: names the invalid address of HUB_REMOTES', () => {
  assert.equal(
    refusal({ HUB_REMOTES: 'https://a.example,b.example' }),
    "HUB_REMOTES is 'https://a.example,b.example', but must be a list of http or https addresses without credentials, each at most 1000 characters long; 'b.example' is not valid.",
  );
  assert.match(refusal({ HUB_REMOTES: '["https://a.example", 7]' }), /; '7' is not valid\.$/);
});

test('settings: secrets are marked as such', () => {
  const secrets = Object.keys(SETTINGS.shape).filter(isSecret);
  assert.deepEqual(secrets, [
    'API_TOKEN',
    'METRICS_TOKEN',
    'DATABASE_URL',
    'DATABASE_READ_URL',
    'REMOTE_CREDENTIALS',
    'EMBEDDING_API_KEY',
    'LLM_API_KEY',
    'MCP_GATEWAY_TOKEN',
    'JWT_SECRET_KEY',
  ]);
  assert.equal(isSecret('HOST'), false);
  assert.equal(isSecret('NOBODY_KNOWS'), false);
});

test('settings: a refusal does not show the secret', () => {
  assert.equal(
    refusal({ DATABASE_URL: 'mysql://hub:hunter2@db.example' }),
    'DATABASE_URL must be a postgres:// address; its value is not shown.',
  );
  assert.equal(
    refusal({ MCP_GATEWAY_URL: 'htps://admin:hunter2@gateway.example' }),
    "MCP_GATEWAY_URL is 'htps://…@gateway.example', but must be an http or https address.",
  );
  const written = fc.constantFrom(
    'ftp://u:SECRET@h',
    'u:SECRET@h',
    'ftp:/u:SECRET@h',
    '//SECRET@h',
    'ftp://u:a/@,SECRET@h',
  );
  const everyOther = fc.constantFrom('', 'https://a.example, ', '[', '["');
  fc.assert(
    fc.property(written, everyOther, fc.constantFrom('HUB_REMOTES', 'BASE_URL', 'PORT'), (address, before, name) => {
      assert.ok(!refusal({ [name]: before + address, API_TOKEN: 'SECRET' }).includes('SECRET'));
    }),
  );
});

test('settings: are immutable', () => {
  const config = readConfig({ ...GATEWAY, ...LLM, ...EMBEDDING, TLS_CERT_FILE: 'a', TLS_KEY_FILE: 'b' });
  for (const group of [config, ...Object.values(config)]) assert.ok(Object.isFrozen(group));
  assert.throws(() => Object.assign(config.search, { mode: 'keyword' }), TypeError);
  assert.throws(() => (readConfig({}).seedRemotes as string[]).push('https://a.example'), TypeError);
  assert.deepEqual(readConfig({}).seedRemotes, []);
});

function attempt(read: () => Config): unknown {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}

/** The one line that people see. */
function refusal(environment: Environment): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof SettingError);
    return error.message;
  }
  return assert.fail(`${JSON.stringify(environment)} was accepted.`);
}

test('settings: only PostgreSQL can search in the database', () => {
  assert.equal(
    refusal({ SEARCH_BACKEND: 'postgres' }),
    'SEARCH_BACKEND is postgres, but DATABASE_URL is not set: set DATABASE_URL, or set SEARCH_BACKEND to memory or auto.',
  );
});
