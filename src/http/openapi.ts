// The OpenAPI document, made from the contracts that validate, and its page.
import swagger, { type SwaggerTransform, type SwaggerTransformObject } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { createJsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import { roleFor } from '../hub-guard.ts';
import { VERSION } from '../version.ts';
import { DOCS_LOOK } from './page/docs-look.ts';
import { PROBLEM_TYPE, PROBLEMS, Problem } from './problem.ts';

const TAGS = [
  { name: 'catalog', description: 'Agents, tools and MCP servers: read them.' },
  { name: 'install', description: 'Bring an entity into a folder, with a lockfile.' },
  { name: 'remotes', description: 'Published indexes: list, ingest, sync.' },
  { name: 'gateways', description: 'Servers that are not registered into the gateway.' },
  { name: 'access', description: 'Tokens, and who changed what.' },
  { name: 'events', description: 'Webhooks, and the log of their deliveries.' },
  { name: 'governance', description: 'The admission policy, and entities that need approval.' },
  { name: 'registry', description: 'The hub as an MCP registry, for existing clients.' },
  { name: 'service', description: 'The hub itself: health, settings, figures.' },
];

/** The page may run its own scripts and ask its own hub, and nothing else. */
const PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** What any route may answer, whatever it does. */
const ANYWHERE: readonly ErrorCode[] = ['internal_error', 'overloaded'];

/** To be awaited before any route is declared: it sees only those that come after it. */
export async function describeApi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Catalog Hub',
        version: VERSION,
        description: 'A catalog of agents, tools and MCP servers. Errors are `application/problem+json`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: TAGS,
      components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    },
    transform: describeRoute,
    transformObject: describeWhole,
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    theme: DOCS_LOOK,
    staticCSP: PAGE_POLICY,
    uiConfig: { layout: 'BaseLayout', validatorUrl: null, tryItOutEnabled: true },
  });
  app.get('/openapi.json', { schema: { hide: true }, config: { isOpen: true } }, async () => app.swagger());
}

/** The error answers of a route, as its schema lists them. */
export function problems(...codes: ErrorCode[]) {
  const byStatus = Map.groupBy([...codes, ...ANYWHERE], (code) => PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, alike]) => [
      status,
      {
        description: alike.map((code) => PROBLEMS[code].title).join(', or '),
        content: { [PROBLEM_TYPE]: { schema: Problem } },
      },
    ]),
  );
}

const jsonSchemaTransform = createJsonSchemaTransform({
  zodToJsonConfig: {
    // zod leaves out the examples of what it transforms, taking them for results; ours are what callers write.
    override({ zodSchema, jsonSchema }) {
      const examples = z.globalRegistry.get(zodSchema)?.examples;
      if (Array.isArray(examples)) jsonSchema.examples = examples;
    },
  },
});

const describeRoute: SwaggerTransform = (document) => {
  const { schema, url } = jsonSchemaTransform(withReadingProblems(document));
  const { operation, isForMetrics } = document.route.config ?? {};
  const role = operation && roleFor(operation);
  if (!isForMetrics && (role === undefined || role === 'reader')) return { schema, url };
  const sentences = [document.schema?.description, role && `Needs the role \`${role}\`.`].filter(Boolean).join(' ');
  return { schema: { ...schema, ...(role && { description: sentences }), security: [{ token: [] }] }, url };
};

/** What happens before a route's own work: a token that is not accepted, a body that cannot be read, an address that is too long. */
function withReadingProblems(document: Parameters<SwaggerTransform>[0]): Parameters<SwaggerTransform>[0] {
  const { schema, route } = document;
  if (!schema?.response) return document;
  const codes: ErrorCode[] = [];
  if (route.config?.operation) codes.push('unauthorized', 'forbidden', 'rate_limited', 'issuer_unavailable');
  if (route.config?.isForMetrics) codes.push('unauthorized');
  if (schema.body) codes.push('payload_too_large', 'unsupported_media_type');
  if (schema.params) codes.push('uri_too_long');
  return { ...document, schema: { ...schema, response: { ...problems(...codes), ...schema.response } } };
}

/** Each named schema comes twice, as it is read and as it is written; only those that some route refers to stay. */
const describeWhole: SwaggerTransformObject = (document) => {
  const whole = jsonSchemaTransformObject(document);
  const { schemas = {} } = ('components' in whole && whole.components) || {};
  const used = new Set<string>();
  collect(whole.paths);
  for (const name of Object.keys(schemas)) if (!used.has(name)) delete schemas[name];
  return whole;

  function collect(part: unknown): void {
    for (const [, name = ''] of JSON.stringify(part ?? {}).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      collect(schemas[name]);
    }
  }
};
