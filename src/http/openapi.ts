// Generates the OpenAPI document from the contracts that validate requests, and serves its page.
import swagger, { type SwaggerTransform, type SwaggerTransformObject } from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { createJsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { ErrorCode } from '../errors.ts';
import { roleFor } from '../hub/guard.ts';
import type { HubOperations } from '../hub/operations.ts';
import { VERSION } from '../version.ts';
import { docsLook } from './page/docs-look.ts';
import { DOCS_POLICY } from './page/page-policy.ts';
import { PROBLEM_TYPE, PROBLEMS, Problem } from './problem.ts';

const TAGS = [
  { name: 'Catalog', description: 'Read agents, tools and MCP servers.' },
  { name: 'Install', description: 'Install an entity into a folder, with a lockfile.' },
  { name: 'Remotes', description: 'Published indexes: list, ingest, sync.' },
  { name: 'Gateway', description: 'Servers that are not registered with the gateway.' },
  { name: 'Access', description: 'Tokens, and who changed what.' },
  { name: 'Events', description: 'Webhooks, and the log of their deliveries.' },
  { name: 'Governance', description: 'The admission policy, and entities that need approval.' },
  { name: 'Registry', description: 'The hub as an MCP registry, for existing clients.' },
  { name: 'Service', description: 'The hub itself: health, settings, metrics.' },
];

declare module 'fastify' {
  interface FastifySchema {
    /** The errors that only this route returns, besides those that every route of its shape may return. */
    errors?: readonly ErrorCode[];
  }
}

/** The options of a route that runs one operation of the hub. */
export function endpoint<const Schema extends FastifySchema>(operation: keyof HubOperations, schema: Schema) {
  return { config: { operation }, schema };
}

/** Await it before declaring any route: it sees only routes declared later. */
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
    theme: docsLook(),
    staticCSP: DOCS_POLICY,
    uiConfig: { layout: 'BaseLayout', validatorUrl: null, tryItOutEnabled: true },
  });
  let document: Buffer | undefined;
  app.get('/openapi.json', { schema: { hide: true }, config: { isOpen: true } }, async (_request, reply) => {
    document ??= Buffer.from(JSON.stringify(app.swagger()));
    return reply.type('application/json; charset=utf-8').send(document);
  });
}

const jsonSchemaTransform = createJsonSchemaTransform({
  zodToJsonConfig: {
    // zod omits the examples of transformed schemas, because it takes them for outputs; ours are inputs.
    override({ zodSchema, jsonSchema }) {
      const examples = z.globalRegistry.get(zodSchema)?.examples;
      if (Array.isArray(examples)) jsonSchema.examples = examples;
    },
  },
});

const describeRoute: SwaggerTransform = (document) => {
  const { operation, isForMetrics, streamsProgress } = document.route.config ?? {};
  const { schema: described, url } = jsonSchemaTransform(withProblems(document));
  const schema = {
    ...described,
    ...(operation && { operationId: operation }),
    ...(isOptional(document.schema?.body) && { [OPTIONAL_BODY]: true }),
    ...(streamsProgress && { [STREAM]: true }),
  };
  const role = operation && roleFor(operation);
  if (!isForMetrics && (role === undefined || role === 'reader')) return { schema, url };
  const sentences = [document.schema?.description, role && `Needs the role \`${role}\`.`].filter(Boolean).join(' ');
  return { schema: { ...schema, ...(role && { description: sentences }), security: [{ token: [] }] }, url };
};

/** Markers that `describeWhole` removes. */
const OPTIONAL_BODY = 'x-optional-body';
const STREAM = 'x-stream';

function isOptional(body: unknown): boolean {
  return body instanceof z.ZodType && body.safeParse(undefined).success;
}

/** What any request may get, before or after routing. */
const FOR_EVERY_REQUEST = [
  'request_timeout',
  'uri_too_long',
  'headers_too_large',
  'rate_limited',
  'internal_error',
  'overloaded',
] satisfies ErrorCode[];

/** Adds the error responses: those of the route, and those that its shape makes possible, such as an unreadable body. */
function withProblems(document: Parameters<SwaggerTransform>[0]): Parameters<SwaggerTransform>[0] {
  const { schema, route } = document;
  if (!schema?.response) return document;
  const { errors = [], ...described } = schema;
  const { operation, isForMetrics } = route.config ?? {};
  const codes = new Set<ErrorCode>([...FOR_EVERY_REQUEST, ...errors]);
  const add = (...some: ErrorCode[]) => some.forEach((code) => void codes.add(code));
  if (operation || isForMetrics) add('unauthorized', 'forbidden', 'issuer_unavailable', 'database_unavailable');
  if (schema.params || schema.querystring || schema.body) add('invalid_request');
  if (schema.body) add('invalid_json', 'payload_too_large', 'unsupported_media_type');
  const problems = [...Map.groupBy(codes, (code) => PROBLEMS[code].status)].map(([status, alike]) => {
    const description = alike.map((code) => PROBLEMS[code].title).join(', or ');
    return [status, { description, content: { [PROBLEM_TYPE]: { schema: Problem } } }] as const;
  });
  return { ...document, schema: { ...described, response: { ...Object.fromEntries(problems), ...schema.response } } };
}

/** Each named schema has an input and an output form; only those that a route refers to are kept. */
const describeWhole: SwaggerTransformObject = (document) => {
  const whole = jsonSchemaTransformObject(document);
  const { schemas = {} } = ('components' in whole && whole.components) || {};
  const used = new Set<string>();
  collect(whole.paths);
  // Sorted, because their order would depend on which module was loaded first.
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  if ('components' in whole && whole.components)
    whole.components.schemas = Object.fromEntries(kept.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  suitGenerators((whole.paths ?? {}) as Record<string, Record<string, Operation>>);
  return whole;

  function collect(part: unknown): void {
    for (const [, name = ''] of JSON.stringify(part ?? {}).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      collect(schemas[name]);
    }
  }
};

interface Operation {
  operationId?: string;
  requestBody?: RequestBody;
  parameters?: Parameter[];
  responses?: Record<string, Response>;
  [OPTIONAL_BODY]?: boolean;
  [STREAM]?: boolean;
}

interface RequestBody {
  required?: boolean;
  content: Record<string, { schema: BodySchema }>;
}

interface BodySchema {
  type?: string;
  anyOf?: BodySchema[];
}

interface Response {
  description: string;
  content?: Record<string, { schema: { $ref?: string; type?: string; description?: string } }>;
}

interface Parameter {
  schema: { type?: string; enum?: unknown[]; default?: unknown };
  example?: unknown;
}

const EVENTS =
  'Sent to callers that accept `text/event-stream`: `progress` events during the work, then one `result` event with the ordinary body as JSON, or one `error` event with a problem.';

/** What makes generated clients pleasant to use: names, booleans, optional bodies, streams. */
function suitGenerators(paths: Record<string, Record<string, Operation>>): void {
  const names = new Set<string>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId, [OPTIONAL_BODY]: isBodyOptional, [STREAM]: isStream } = operation;
      delete operation[OPTIONAL_BODY];
      delete operation[STREAM];
      operation.operationId = operationId && !names.has(operationId) ? operationId : nameOf(method, path);
      names.add(operation.operationId);
      if (isBodyOptional && operation.requestBody) makeOptional(operation.requestBody);
      const answer = operation.responses?.['200'];
      if (isStream && answer?.content)
        answer.content['text/event-stream'] = { schema: { type: 'string', description: EVENTS } };
      for (const response of Object.values(operation.responses ?? {})) nameResponse(response);
      for (const parameter of operation.parameters ?? []) asBoolean(parameter);
    }
  }
}

/** The hub also accepts `null`, for which generated clients would need another type. */
function makeOptional(body: RequestBody): void {
  body.required = false;
  for (const media of Object.values(body.content)) {
    const [only, ...others] = media.schema.anyOf?.filter(({ type }) => type !== 'null') ?? [];
    if (only && others.length === 0) media.schema = only;
  }
}

/** A route that does not describe its response gets the name of its schema: `RemoteList` → `Remote list`. */
function nameResponse(response: Response): void {
  const schema = response.content?.['application/json']?.schema.$ref?.split('/').at(-1);
  if (response.description !== 'Default Response' || !schema) return;
  response.description = schema.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** `GET /catalog/remotes` → `getCatalogRemotes`, for a second path of an operation, and for routes without an operation. */
function nameOf(method: string, path: string): string {
  const parts = path.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return method + parts.map((part) => `${part[0]?.toUpperCase()}${part.slice(1)}`).join('');
}

/** The hub also accepts other words, which generated clients need not know. */
function asBoolean(parameter: Parameter): void {
  const { enum: words, default: fallback, ...schema } = parameter.schema;
  if (!words?.includes('true') || !words.includes('false')) return;
  const isTrue = (word: unknown) => word === 'true';
  parameter.schema = { ...schema, type: 'boolean', ...(fallback !== undefined && { default: isTrue(fallback) }) };
  if (parameter.example !== undefined) parameter.example = isTrue(parameter.example);
}
