// Routes for publishing servers: the part of the MCP registry protocol that `mcp-publisher` uses.
import type { FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { HubError } from '../../errors.ts';
import type { Hub } from '../../hub/hub.ts';
import { NewStatus, SERVER_SCHEMA, ServerResponse, StatusChanged, Validation } from '../../registry/contract.ts';
import { endpoint } from '../openapi.ts';

/** The same handlers; `mcp-publisher` uses the second one. */
const PREFIXES = ['/v0.1', '/v0'];
const member = (example: unknown) =>
  z
    .unknown()
    .optional()
    .meta({ examples: [example] });
/** All faults in the other members are reported together, by the same rules as elsewhere. */
const Document = z
  .looseObject({
    $schema: member(SERVER_SCHEMA),
    name: z.string().meta({ examples: ['com.acme/tasks'] }),
    description: member('Reads and writes tasks.'),
    version: member('1.0.0'),
    remotes: member([{ type: 'streamable-http', url: 'https://tasks.acme.example/mcp' }]),
  })
  .describe('A `server.json`, or a manifest of the type `mcp_server`')
  .meta({ id: 'ServerDocument' });

const name = z
  .string()
  .describe('Encode its `/` as `%2F`; a plain `/` is accepted too')
  .meta({ examples: ['com.acme/notes'] });
const version = z.string().meta({ examples: ['1.0.0'] });

export function publishingRoutes(server: FastifyInstance, hub: Hub): void {
  for (const prefix of PREFIXES) {
    const app = server.withTypeProvider<ZodTypeProvider>();
    const shown = { tags: ['Registry'], hide: prefix !== PREFIXES[0] };

    app.post(
      `${prefix}/publish`,
      endpoint('publishServer', {
        ...shown,
        summary: 'Publish a version of a server',
        body: Document,
        errors: ['invalid_server', 'version_taken', 'name_taken'],
        response: { 200: ServerResponse.describe('The server as it is listed') },
      }),
      ({ body, caller }) => hub.as(caller).publishServer(body),
    );

    app.post(
      `${prefix}/validate`,
      {
        config: { isOpen: true, countsAsRead: true },
        schema: {
          ...shown,
          summary: 'Check whether a server could be published, without publishing it',
          body: Document,
          response: { 200: Validation.describe('The findings') },
        },
      },
      async ({ body }) => hub.validateServer(body),
    );

    app.patch(
      `${prefix}/servers/:name/versions/:version/status`,
      endpoint('setServerStatus', {
        ...shown,
        summary: 'Deprecate or delete a published version of a server, or make it active again',
        params: z.object({ name, version }),
        body: NewStatus,
        errors: ['entity_not_found', 'not_published'],
        response: { 200: ServerResponse.describe('The server') },
      }),
      async ({ params, body, caller }) => {
        const { servers } = await hub.as(caller).setServerStatus({ ...params, ...body });
        return servers[0] as ServerResponse;
      },
    );

    app.patch(
      `${prefix}/servers/:name/status`,
      endpoint('setServerStatus', {
        ...shown,
        summary: 'Deprecate or delete all published versions of a server, or make them active again',
        params: z.object({ name }),
        body: NewStatus,
        errors: ['entity_not_found', 'not_published'],
        response: { 200: StatusChanged.describe('The versions that changed') },
      }),
      ({ params, body, caller }) => hub.as(caller).setServerStatus({ ...params, ...body }),
    );

    signInRoutes(server, `${prefix}/auth`, hub);
  }
}

const ADVICE =
  "'mcp-publisher login github --token <token> --registry <address of this hub>' accepts a token of this hub, which an administrator creates with 'hub tokens add <name> --role publisher'.";
const GITHUB_TOKEN = /^(gh[a-z]_|github_pat_)/;

/** `mcp-publisher` exchanges its credentials for a registry token. Tokens of this hub already are such tokens. */
function signInRoutes(server: FastifyInstance, base: string, { authentication }: Hub): void {
  const open = { config: { isOpen: true }, schema: { hide: true } };
  const app = server.withTypeProvider<ZodTypeProvider>();

  app.post(
    `${base}/github-at`,
    { ...open, schema: { ...open.schema, body: z.object({ github_token: z.string().min(1) }) } },
    async ({ body: { github_token: token }, ip }) => {
      if (GITHUB_TOKEN.test(token)) throw notOffered('GitHub tokens');
      await authentication.identify(token, ip);
      return { registry_token: token };
    },
  );
  app.post(`${base}/none`, open, async () => {
    if (!authentication.isOpen) throw notOffered('publishing without a token');
    return { registry_token: 'none' };
  });
  for (const way of ['github-oidc', 'oidc', 'dns', 'http'])
    app.post(`${base}/${way}`, open, async () => {
      throw notOffered(`the sign-in method '${way}'`);
    });
}

function notOffered(what: string): HubError {
  return new HubError('not_offered', `This hub does not support ${what}: ${ADVICE}`);
}
