// The OpenAPI document, made from the contracts that validate, and its page.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { ErrorCode } from '../errors.ts';
import { VERSION } from '../version.ts';
import { PROBLEM_TYPE, PROBLEMS, Problem } from './problem.ts';

const TAGS = [
  { name: 'catalog', description: 'Agents, tools and MCP servers: read them.' },
  { name: 'service', description: 'The hub itself: health, settings, figures.' },
];

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
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    uiConfig: { validatorUrl: null, tryItOutEnabled: true },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
}

/** The error answers of a route, as its schema lists them. */
export function problems(...codes: ErrorCode[]) {
  return Object.fromEntries(
    codes.map((code) => [
      PROBLEMS[code].status,
      { description: PROBLEMS[code].title, content: { [PROBLEM_TYPE]: { schema: Problem } } },
    ]),
  );
}
