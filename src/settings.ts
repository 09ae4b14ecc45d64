// Every setting: name, valid values, default and purpose. docs/settings.md is generated from this table.
import { z } from 'zod';
import { ROLES } from './access/contract.ts';
import { SettingError } from './errors.ts';
import { LOG_LEVELS } from './lib/logger.ts';

/** A schema's message says what the setting expects; the name and the given value are added when it is refused. */
const wholeNumber = (min: number, max: number) => {
  const wants = `a whole number from ${min} to ${max}`;
  // Number() alone would also accept '1e3' and '0x10'.
  const digits = z.string().regex(/^-?\d{1,15}$/, wants);
  return digits.transform(Number).pipe(z.number().min(min, wants).max(max, wants));
};
const oneOf = <const T extends string>(values: readonly T[]) =>
  z
    .string()
    .toLowerCase()
    .pipe(z.enum(values, { error: `one of ${values.join(', ')}` }));
const yesOrNo = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0', 'yes', 'no', 'on', 'off'], { error: 'true or false' }))
  .transform((text) => ['true', '1', 'yes', 'on'].includes(text));
const proxyCount = z
  .string()
  .toLowerCase()
  .regex(/^(?:\d|true|yes|on|false|no|off)$/, 'a number of proxies from 0 to 9, true or false')
  .transform((text) => (/\d/.test(text) ? Number(text) : Number(['true', 'yes', 'on'].includes(text))));
const httpUrl = z
  .url({ protocol: /^https?$/, error: 'an http or https address' })
  .transform((url) => url.replace(/\/+$/, ''));
/** Links append a path to it, and everyone can see them. */
const publicUrl = httpUrl.refine((url) => {
  const { username, password, search, hash } = new URL(url);
  return `${username}${password}${search}${hash}` === '';
}, 'an http or https address without credentials, query or fragment');
const text = z.string();
const secret = z.string().meta({ secret: true });
/** Sent in a header, where a space would end the token. */
const token = z
  .string()
  .regex(/^[\x21-\x7e]+$/, 'text of visible ASCII characters without spaces')
  .meta({ secret: true });
/** The list of remotes is public, and the URL is a key of a database index, which limits its length. */
const remoteUrl = httpUrl.refine(
  (url) => !new URL(url).username && !new URL(url).password && new URL(url).href.length <= 1000,
);
const urlList = z.string().transform((raw, context) => {
  const urls = splitList(raw).map((entry) => ({ entry, url: remoteUrl.safeParse(entry) }));
  const bad = urls.find(({ url }) => !url.success);
  if (bad) {
    context.issues.push({
      code: 'custom',
      input: raw,
      message: `a list of http or https addresses without credentials, each at most 1000 characters long; '${withoutCredentials(bad.entry)}' is not valid`,
    });
    return z.NEVER;
  }
  return [...new Set(urls.map(({ entry }) => new URL(entry).href))];
});
/** `host`, `host:port` or `host/path`. */
const hostPrefix = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::\d{1,5})?(?:\/[^\s/?#@]+)*$/i;
const hostList = z.string().transform((raw, context) => {
  const entries = splitList(raw).map((entry) => entry.replace(/\/+$/, ''));
  const bad = entries.find((entry) => !hostPrefix.test(entry));
  if (bad === undefined) return [...new Set(entries)];
  const message = `a list of hosts without a scheme, each with an optional path; '${withoutCredentials(bad)}' is not valid`;
  context.issues.push({ code: 'custom', input: raw, message });
  return z.NEVER;
});

/** `group=role,group=role`. */
const roleList = z.string().transform((raw, context) => {
  const pairs = splitList(raw).map((entry) => entry.split(/=(?=[^=]*$)/).map((part) => part.trim()));
  const roles = z.record(z.string().min(1), z.enum(ROLES)).safeParse(Object.fromEntries(pairs));
  if (roles.success && pairs.every((pair) => pair.length === 2)) return roles.data;
  const message = `pairs such as developers=installer, with one of the roles ${ROLES.join(', ')}`;
  context.issues.push({ code: 'custom', input: raw, message });
  return z.NEVER;
});

export const SETTINGS = z.object({
  HOST: text.default('127.0.0.1').describe('Address to listen on.'),
  PORT: wholeNumber(0, 65_535)
    .optional()
    .describe('Port to listen on. Default: 443, or 8443 if 443 is taken or not permitted.'),
  BASE_URL: publicUrl
    .optional()
    .describe('Public address of the hub, used in links. Default: the address that the hub listens on.'),
  TLS_CERT_FILE: text
    .optional()
    .describe('PEM file with the certificate chain; with `TLS_KEY_FILE`, the hub serves HTTPS.'),
  TLS_KEY_FILE: text.optional().describe('PEM file with the private key.'),
  TRUST_PROXY: proxyCount
    .default(0)
    .describe(
      'Number of proxies in front of the hub that add to `X-Forwarded-For`; `true` means 1. The outermost of these proxies supplies the caller’s address.',
    ),
  API_TOKEN: token.optional().describe('If set, protected routes need `Authorization: Bearer <token>`.'),
  READ_ACCESS: oneOf(['open', 'token'])
    .default('open')
    .describe(
      '`token`: reads also need a token, with the role `reader` or higher. The web page, `/health` and a few other addresses stay open ([access](access.md) lists them).',
    ),
  OIDC_ISSUER: publicUrl
    .optional()
    .describe(
      'OpenID Connect issuer for sign-ins. If set, the hub accepts tokens signed by this issuer in addition to its own.',
    ),
  OIDC_AUDIENCE: text.optional().describe('Audience that sign-in tokens must have. Needed with `OIDC_ISSUER`.'),
  OIDC_ROLE_CLAIM: text
    .default('roles')
    .describe('Claim of sign-in tokens that lists roles or groups; use dots for nested objects: `realm_access.roles`.'),
  OIDC_ROLES: roleList
    .default({})
    .describe(
      'Maps values of `OIDC_ROLE_CLAIM` to roles: `hub-admins=admin,developers=installer`. Without it, the values must be role names.',
    ),
  METRICS_TOKEN: token.optional().describe('If set, `GET /metrics` needs this token.'),
  MAX_BODY_BYTES: wholeNumber(1024, 1_073_741_824)
    .default(1_048_576)
    .describe('Largest request body that is accepted.'),
  REQUEST_TIMEOUT_SEC: wholeNumber(1, 3600).default(30).describe('Time limit for a request to arrive completely.'),
  RATE_LIMIT_PER_MINUTE: wholeNumber(0, 1_000_000)
    .default(0)
    .describe('Public reads allowed per caller address and minute; 0 means unlimited.'),
  DRAIN_SEC: wholeNumber(0, 300)
    .default(0)
    .describe(
      'How long the hub keeps serving requests after SIGTERM while `/health` answers 503, so that load balancers can remove it first.',
    ),
  LOG_LEVEL: oneOf(LOG_LEVELS)
    .default('info')
    .describe('Minimum severity of logged events: `debug`, `info`, `warn`, `error` or `silent`.'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'a postgres:// address' })
    .meta({ secret: true })
    .optional()
    .describe('`postgres://…` selects PostgreSQL; without it, SQLite is used.'),
  DATABASE_READ_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'a postgres:// address' })
    .meta({ secret: true })
    .optional()
    .describe('Read replica to use for searches in PostgreSQL. Default: `DATABASE_URL`.'),
  DATABASE_WAIT_SEC: wholeNumber(0, 3600)
    .default(60)
    .describe('How long the hub waits at startup for PostgreSQL to come up.'),
  DATABASE_POOL_SIZE: wholeNumber(1, 200).default(10).describe('Maximum connections to PostgreSQL.'),
  DB_PATH: text.optional().describe('SQLite file. Default: `catalog.sqlite` in `DATA_DIR`.'),
  DATA_DIR: text
    .default('./data')
    .describe('Folder for the SQLite file; with PostgreSQL, for the file of the search index.'),
  HUB_REMOTES: urlList
    .default([])
    .describe(
      'Addresses of indexes and MCP registries, as CSV or a JSON array; added whenever the list of remotes is empty.',
    ),
  REMOTE_CREDENTIALS: z
    .string()
    .meta({ secret: true })
    .optional()
    .describe(
      'Credentials for private remotes, as a JSON object from address or address prefix to `{"header": "Authorization: Bearer …"}` or `{"username": "…", "password": "…"}`.',
    ),
  REMOTE_CREDENTIALS_FILE: text.optional().describe('File with the same object, instead of `REMOTE_CREDENTIALS`.'),
  POLICY_FILE: text
    .optional()
    .describe(
      'File with the admission policy, as YAML or JSON. The hub reads it again when it changes. The policy can then no longer be changed through the API.',
    ),
  TRUST_CHECKS: oneOf(['request', 'approvals'])
    .default('request')
    .describe(
      'When signatures of artifacts are checked. `request`: on request. `approvals`: also in the background, for entities that wait for approval.',
    ),
  TRUST_NPM_REGISTRY: publicUrl
    .default('https://registry.npmjs.org')
    .describe('npm registry to get package provenance from.'),
  TRUST_PYPI_INDEX: publicUrl.default('https://pypi.org').describe('Python index to get package attestations from.'),
  TRUST_ROOT_FILE: text
    .optional()
    .describe(
      'File with the Sigstore trusted root (`trusted_root.json`) for verifying signatures. Default: the root of the public instance, which comes with the hub.',
    ),
  TRUST_NAMESPACES_OF: urlList
    .default(['https://registry.modelcontextprotocol.io/'])
    .describe(
      'Address prefixes of remotes that verify who may use a namespace such as `io.github.owner`; separated by commas.',
    ),
  INGEST_INTERVAL_MIN: wholeNumber(0, 20_160)
    .default(0)
    .describe('Minutes between background syncs; 0 turns them off.'),
  MAX_INDEX_BYTES: wholeNumber(1024, 500_000_000)
    .default(268_435_456)
    .describe('Largest index that is accepted. An index with a million entries takes about 200 MB.'),
  MAX_MANIFEST_BYTES: wholeNumber(1024, 134_217_728).default(1_048_576).describe('Largest manifest that is accepted.'),
  FETCH_TIMEOUT_SEC: wholeNumber(1, 3600)
    .default(20)
    .describe(
      'Time limit for one index or manifest, retries included. A large index may take longer, as long as data keeps arriving.',
    ),
  FETCH_PER_HOST: wholeNumber(1, 64).default(32).describe('Maximum concurrent requests to one host.'),
  REMOTE_TIMEOUT_MIN: wholeNumber(1, 1440).default(60).describe('Time limit for the ingest of one remote.'),
  ALLOW_PRIVATE_NETWORK: yesOrNo
    .optional()
    .describe(
      'Whether the hub may use loopback and private addresses for remotes, manifests, artifacts and webhooks. Default: true if `HOST` is loopback, otherwise false.',
    ),
  INSTALL_ROOT: text.optional().describe('If set, every install target must be inside this folder.'),
  INSTALL_CREDENTIALS_FOR: hostList
    .default([])
    .describe(
      'Hosts, each with an optional path, for which installs may use the operator’s own git, npm, pip and container credentials: `git.example.com,ghcr.io/team`. Add the port if it is not the default: `git.example.com:8443`.',
    ),
  INSTALL_CONCURRENCY: wholeNumber(1, 64)
    .default(4)
    .describe('Maximum number of concurrent installs. Installs into the same target run one after the other.'),
  SEARCH_PROFILE: oneOf(['general', 'public'])
    .default('general')
    .describe('`general`: 20 results by default, up to 100. `public`: never more than 5.'),
  SEARCH_MODE: oneOf(['keyword', 'semantic', 'hybrid'])
    .default('hybrid')
    .describe('Default search mode: `keyword`, `semantic` or `hybrid`.'),
  SEARCH_RERANK: oneOf(['none', 'llm'])
    .default('none')
    .describe('Default reranking: `none`, or `llm` for a language model (`LLM_BASE_URL`).'),
  SEARCH_BACKEND: oneOf(['auto', 'memory', 'postgres'])
    .default('auto')
    .describe(
      'Where searches run. `memory`: in the hub’s own index. `postgres`: in the database, for large catalogs and many hubs. `auto`: in the database if it has pgvector and the catalog has more than `SEARCH_MEMORY_MAX_ENTITIES` entities at startup.',
    ),
  SEARCH_MEMORY_MAX_ENTITIES: wholeNumber(0, 1_000_000_000)
    .default(300_000)
    .describe('Largest catalog that `SEARCH_BACKEND=auto` searches in memory.'),
  EMBEDDING_BASE_URL: httpUrl
    .optional()
    .describe('OpenAI-compatible endpoint that replaces the built-in embedding model.'),
  EMBEDDING_MODEL: text.optional().describe('Model to use at `EMBEDDING_BASE_URL`.'),
  EMBEDDING_API_KEY: secret.optional().describe('Key for `EMBEDDING_BASE_URL`.'),
  LLM_BASE_URL: httpUrl.optional().describe('OpenAI-compatible endpoint that reranks results and says why they fit.'),
  LLM_MODEL: text.optional().describe('Model to use at `LLM_BASE_URL`.'),
  LLM_API_KEY: secret.optional().describe('Key for `LLM_BASE_URL`.'),
  LLM_TIMEOUT_SEC: wholeNumber(1, 300)
    .default(10)
    .describe('How long a search waits for the language model before it continues without it.'),
  MCP_GATEWAY_URL: httpUrl.optional().describe('Address of the gateway to register servers with.'),
  MCP_GATEWAY_TOKEN: token.optional().describe('Admin token of the gateway.'),
  JWT_SECRET_KEY: secret
    .optional()
    .describe('The gateway’s own secret. If `MCP_GATEWAY_TOKEN` is not set, the hub creates gateway tokens with it.'),
  BASIC_AUTH_USERNAME: text
    .optional()
    .describe('Subject of the gateway tokens that the hub creates, if this value is an email address.'),
  GATEWAY_ADMIN_EMAIL: text
    .default('admin@example.com')
    .describe(
      'Subject of those tokens if `BASIC_AUTH_USERNAME` is not an email address. The user must exist in the gateway.',
    ),
  GATEWAY_TOKEN_ISSUER: text.default('mcpgateway').describe('Issuer of the gateway tokens that the hub creates.'),
  GATEWAY_TOKEN_AUDIENCE: text
    .default('mcpgateway-api')
    .describe('Audience of the gateway tokens that the hub creates.'),
  GATEWAY_CONCURRENCY: wholeNumber(1, 64).default(4).describe('Maximum concurrent registrations.'),
  GATEWAY_TIMEOUT_SEC: wholeNumber(1, 3600)
    .default(30)
    .describe('Time limit for registering a server; the gateway connects to it during this time.'),
  GATEWAY_CALL_TIMEOUT_SEC: wholeNumber(1, 3600).default(10).describe('Time limit for any other call to the gateway.'),
});

export type Settings = z.output<typeof SETTINGS>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** @throws SettingError when a setting is invalid. */
export function parseSettings(environment: Environment): Settings {
  // An empty setting counts as unset, because compose files and .env templates contain such settings. Values are trimmed,
  // because files with Windows line endings leave whitespace.
  const present = Object.fromEntries(
    Object.entries(environment)
      .map(([name, value = '']) => [name, value.trim()] as const)
      .filter(([, value]) => value !== ''),
  );
  const parsed = SETTINGS.safeParse(present);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0]);
  const fault = isSecret(name)
    ? `must be ${issue?.message}; its value is not shown`
    : `is '${withoutCredentials(present[name] ?? '')}', but must be ${issue?.message}`;
  throw new SettingError(`${name} ${fault}.`, { setting: name });
}

/** Secrets are never printed, logged or shown. */
export function isSecret(name: string): boolean {
  if (!Object.hasOwn(SETTINGS.shape, name)) return false;
  const schema = SETTINGS.shape[name as keyof Settings];
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  return inner.meta()?.secret === true;
}

/** The whole values of all secret settings; not each password inside an address or a list of credentials. */
export function secretsOf(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => (isSecret(name) ? [String(value)] : []));
}

/** A URL may contain a password before the host; everything that could be part of it is removed. */
function withoutCredentials(value: string): string {
  return value.replace(/^([a-z][a-z\d+.-]*:\/+)?.*@/is, '$1…@');
}

/** CSV, a JSON array, or `[a, b]` without quotes; whitespace separates too, because no URL contains it. */
function splitList(raw: string): string[] {
  const parts = jsonArray(raw) ?? raw.replace(/^\[(.*)\]$/s, '$1').split(/[,\s]/);
  return parts
    .map((part) =>
      String(part)
        .trim()
        .replace(/^["']|["']$/g, ''),
    )
    .filter((part) => part !== '');
}

function jsonArray(raw: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(raw);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
