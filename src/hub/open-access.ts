// Sets up access: the tokens, who a caller is, and the audit log.
import { type Audit, createAudit } from '../access/audit.ts';
import { type Authentication, createAuthentication } from '../access/authenticate.ts';
import { createJsonWebTokens } from '../access/json-web-tokens.ts';
import { createTokens, type Tokens } from '../access/tokens.ts';
import type { Config } from '../config.ts';
import type { World } from '../lib/world.ts';
import type { Dialect } from '../store/dialects/dialect.ts';
import { createAuditStore } from '../store/governance/audit-store.ts';
import { createTokenStore } from '../store/governance/token-store.ts';

export interface OpenAccessDependencies {
  config: Config;
  world: World;
  database: Dialect;
  /** Only a hub that serves deletes old records of the audit log. */
  isServed: boolean;
}

export function openAccess({ config, world: { now, log, fetchTrusted }, database, isServed }: OpenAccessDependencies): {
  tokens: Tokens;
  audit: Audit;
  authentication: Authentication;
} {
  const tokens = createTokens(createTokenStore(database), now);
  const keepDays = isServed ? config.auditDays : undefined;
  const audit = createAudit(createAuditStore(database), { now, log, keepDays });
  const authentication = createAuthentication({
    apiToken: config.adminToken,
    metricsToken: config.metricsToken,
    readsNeedToken: config.readsNeedToken,
    tokens,
    checkJsonWebToken: config.oidc && createJsonWebTokens(config.oidc, { fetch: fetchTrusted, now, log }),
  });
  return { tokens, audit, authentication };
}
