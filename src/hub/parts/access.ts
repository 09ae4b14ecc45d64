// Sets up access: the tokens, who a caller is, and the audit log.
import { createAudit } from '../../access/audit.ts';
import { createAuthentication } from '../../access/authenticate.ts';
import { createJsonWebTokens } from '../../access/json-web-tokens.ts';
import { createTokens } from '../../access/tokens.ts';
import type { Config } from '../../config.ts';
import type { World } from '../../lib/world.ts';
import type { Dialect } from '../../store/dialects/dialect.ts';
import { createAuditStore } from '../../store/governance/audit-store.ts';
import { createTokenStore } from '../../store/governance/token-store.ts';

export function openAccess({
  config,
  world: { now, log, fetchTrusted },
  database,
}: {
  config: Config;
  world: World;
  database: Dialect;
}) {
  const tokens = createTokens(createTokenStore(database), now);
  const audit = createAudit(createAuditStore(database), { now, log, secrets: config.secrets });
  const authentication = createAuthentication({
    apiToken: config.adminToken,
    metricsToken: config.metricsToken,
    readsNeedToken: config.readsNeedToken,
    tokens,
    checkJsonWebToken: config.oidc && createJsonWebTokens(config.oidc, { fetch: fetchTrusted, now, log }),
  });
  return { tokens, audit, authentication };
}
