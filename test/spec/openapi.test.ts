import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { HTTPMethods } from 'fastify';
import { readDemoCatalog } from '../../src/cli/demo.ts';
import { SERVER_SCHEMA } from '../../src/registry/contract.ts';
import { VERSION } from '../../src/version.ts';
import { type Answer, inject } from '../http/wire.ts';
import { testHub } from '../support/hub.ts';

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, { examples?: unknown[] }>;
  required?: string[];
}

interface Parameter {
  name: string;
  in: 'query' | 'path';
  required: boolean;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Operation {
  summary: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  security?: Record<string, string[]>[];
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, object> };
}

const TOKEN = 'token-of-the-test';
/** Stands for the address of an example index; tests use their own server. */
const EXAMPLE_HOST = 'https://catalog.example.org';

test('OpenAPI', async (t) => {
  const hub = await describedHub(t);

  await t.test('the document is valid', async () => {
    const { document } = hub;
    assert.match(document.openapi, /^3\.1\.\d$/);
    assert.deepEqual([document.info.title, document.info.version], ['Catalog Hub', VERSION]);
    const text = JSON.stringify(document);
    const referred = new Set([...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name));
    assert.deepEqual([...referred].toSorted(), Object.keys(document.components.schemas).toSorted(), 'each is used');
    for (const name of referred) assert.match(name ?? '', /^[A-Z][A-Za-z]*$/);
    assert.doesNotMatch(text, /"\$ref":"(?!#\/components\/schemas\/)/, 'all references are internal');
  });

  await t.test('every operation describes its purpose, parameters and responses', async (t) => {
    const { document, operations } = hub;
    const tags = document.tags.map(({ name }) => name);
    assert.ok(operations.length >= 6);
    for (const { name, path, operation } of operations) {
      await t.test(name, () => {
        assert.ok(operation.summary.length > 5);
        assert.ok(operation.tags.length > 0 && operation.tags.every((tag) => tags.includes(tag)));
        assertAnswersAreDescribed(operation);
        const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map(([, placeholder]) => placeholder);
        const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
        assert.deepEqual(
          inPath.map((parameter) => parameter.name),
          placeholders,
        );
        assert.ok(inPath.every(({ required }) => required));
        for (const parameter of operation.parameters ?? []) {
          assert.ok(examplesOf(parameter).length > 0, `${parameter.name} has no example`);
        }
        for (const scheme of (operation.security ?? []).flatMap(Object.keys)) {
          assert.ok(document.components.securitySchemes[scheme]);
          assert.ok(operation.responses['401']);
        }
      });
    }
  });

  await t.test('every example is answered as the document says', async (t) => {
    let isChanged = false;
    for (const described of hub.operations) {
      for (const values of exampleRequests(described.operation.parameters ?? [])) {
        await t.test(`${described.name}: ${fill(described.path, values)}`, async () => {
          // An example that deletes something must not affect the next one.
          const changes = described.method !== 'GET';
          if (changes || isChanged) await hub.restoreCatalog();
          isChanged = changes;
          const answer = await hub.send(described, { values, body: hub.exampleBody(described), token: TOKEN });
          assert.equal(Math.floor(answer.status / 100), 2, `an example fails: ${answer.body.slice(0, 300)}`);
          hub.assertDocumented(described, answer);
        });
      }
    }
  });

  await t.test('errors are answered as the document says', async (t) => {
    for (const described of hub.operations) {
      await t.test(described.name, async () => {
        const { operation } = described;
        const [usual = []] = exampleRequests(operation.parameters ?? []);
        const body = hub.exampleBody(described);
        for (const parameter of operation.parameters ?? []) {
          // Without its last segment, the path belongs to another operation.
          const nothing = parameter.in === 'path' ? [] : [''];
          for (const wrong of ['!', '-1', ...nothing, 'x'.repeat(5000), '\u0000']) {
            const values: Values = [...usual.filter(([other]) => other !== parameter), [parameter, wrong]];
            hub.assertDocumented(described, await hub.send(described, { values, body, token: TOKEN }));
          }
        }
        for (const wrong of operation.requestBody
          ? ['[]', '{', '{"url":7,"id":7,"uids":7,"force":7,"priority":"x"}']
          : []) {
          const answer = await hub.send(described, { values: usual, body: wrong, token: TOKEN });
          assert.equal(answer.status, 400);
          hub.assertDocumented(described, answer);
        }
        const withoutToken = await hub.send(described, { values: usual, body });
        assert.equal(withoutToken.status === 401, operation.security !== undefined);
        hub.assertDocumented(described, withoutToken);
      });
    }
  });

  await t.test('a hub without its database answers as the document says', async () => {
    await hub.closeDatabase();
    for (const described of hub.operations.filter(({ method }) => method === 'GET')) {
      const [values = []] = exampleRequests(described.operation.parameters ?? []);
      hub.assertDocumented(described, await hub.send(described, { values, token: TOKEN }));
    }
  });
});

function assertAnswersAreDescribed({ responses }: Operation): void {
  const statuses = Object.keys(responses);
  assert.ok(statuses.some((status) => /^2\d\d$/.test(status)));
  for (const status of ['500', '503']) assert.ok(statuses.includes(status), `${status} is not documented`);
  for (const [status, { description, content = {} }] of Object.entries(responses)) {
    assert.ok(description.length > 0, `${status} is not described`);
    if (Number(status) < 400 || content['application/json']) continue;
    assert.deepEqual(content['application/problem+json']?.schema, { $ref: '#/components/schemas/Problem' }, status);
  }
}

type Values = [Parameter, string][];

/** One request per example of each parameter, with the first examples of required ones. */
function exampleRequests(parameters: Parameter[]): Values[] {
  if (parameters.length === 0) return [[]];
  const first = parameters.map((parameter): [Parameter, string] => [parameter, examplesOf(parameter)[0] ?? '']);
  const required = first.filter(([parameter]) => parameter.required);
  const single = parameters.flatMap((parameter) =>
    examplesOf(parameter).map(
      (value): Values => [...required.filter(([other]) => other !== parameter), [parameter, value]],
    ),
  );
  return [required, ...single, first];
}

function examplesOf({ example, examples = {} }: Parameter): string[] {
  const values = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)];
  return values.map(String);
}

function fill(path: string, values: Values): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [{ name, in: location }, value] of values) {
    if (location === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else query.set(name, value);
  }
  return query.size > 0 ? `${filled}?${query}` : filled;
}

interface Described {
  name: string;
  method: HTTPMethods;
  path: string;
  operation: Operation;
}

const ALL = { text: '', sort: 'name', limit: 100, offset: 0 } as const;
const PUBLISHED = { $schema: SERVER_SCHEMA, name: 'com.acme/notes', description: 'Notes.', version: '1.0.0' };

async function describedHub(t: TestContext) {
  const { app, hub } = await testHub(t, { settings: { METRICS_TOKEN: TOKEN, API_TOKEN: TOKEN } });
  const catalog = await readDemoCatalog();
  const restoreCatalog = async () => {
    await hub.load(catalog);
    for (const { id } of (await hub.listCatalog({ ...ALL, idPrefix: 'mcp_server:com.acme/' })).items)
      await hub.removeEntity(id);
    await hub.publishServer(PUBLISHED);
    await hub.saveView({ name: 'team', description: '', names: [], approved: false });
    const { items } = await hub.listTokens();
    if (!items.some(({ name }) => name === 'old-laptop'))
      await hub.createToken({ name: 'old-laptop', role: 'reader', scope: [] });
    const webhooks = (await hub.listWebhooks()).items;
    if (!webhooks.some(({ name }) => name === 'old-chat'))
      await hub.addWebhook({ name: 'old-chat', url: 'http://127.0.0.1:9/', events: ['sync.finished'] });
  };
  await restoreCatalog();
  const exampleHost = await hostDemo(t);
  const document = (await app.inject('/openapi.json')).json<Document>();
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema(document, 'openapi');
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, operation]): Described => {
      const method = verb.toUpperCase();
      return { name: `${method} ${path}`, method, path, operation };
    }),
  );
  return {
    document,
    operations,
    closeDatabase: () => hub.close(),
    restoreCatalog,
    send,
    exampleBody,
    assertDocumented,
  };

  function send(
    { method, path, operation }: Described,
    { values, body, token }: { values: Values; body?: string; token?: string },
  ): Promise<Answer> {
    const here = values.map(([parameter, value]): Values[number] => [parameter, atHome(value)]);
    const headers = {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(operation.requestBody ? { 'content-type': 'application/json' } : {}),
    };
    return inject(app, { method: method as 'GET', url: fill(path, here), headers, payload: body });
  }

  /** The first examples of the fields. */
  function exampleBody({ name, operation }: Described): string | undefined {
    const schema = operation.requestBody?.content['application/json']?.schema;
    if (!schema) return undefined;
    const [fields] = [schema, ...(schema.anyOf ?? schema.oneOf ?? [])]
      .map((variant) => document.components.schemas[variant.$ref?.split('/').at(-1) ?? ''] ?? variant)
      .filter(({ properties }) => properties !== undefined);
    const given = Object.entries(fields?.properties ?? {}).flatMap(([field, { examples = [] }]) =>
      examples.slice(0, 1).map((example) => [field, example]),
    );
    const body = Object.fromEntries(given);
    for (const field of fields?.required ?? []) assert.ok(field in body, `${name}: ${field} has no example`);
    return atHome(JSON.stringify(body));
  }

  function atHome(text: string): string {
    return text.replaceAll(EXAMPLE_HOST, exampleHost);
  }

  function assertDocumented({ name, path, method, operation }: Described, { status, headers, body }: Answer): void {
    const { content = {} } = operation.responses[status] ?? assert.fail(`${name} answers ${status}: ${body}`);
    const type = headers['content-type']?.split(';', 1)[0] ?? '';
    assert.ok(content[type], `${name} answers ${status} with ${type}, which is not documented`);
    const pointer = ['paths', path, method.toLowerCase(), 'responses', String(status), 'content', type, 'schema'];
    const fragment = pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')));
    const validate = ajv.getSchema(`openapi#/${fragment.join('/')}`) ?? assert.fail(`${name}: no schema for ${status}`);
    assert.ok(validate(type.endsWith('json') ? JSON.parse(body) : body), `${name}: ${JSON.stringify(validate.errors)}`);
  }
}

/** The sample catalog in published form. */
async function hostDemo(t: TestContext): Promise<string> {
  const host = createServer(async (request, response) => {
    const file = await readFile(new URL(`../../demo${request.url}`, import.meta.url)).catch(() => undefined);
    response.writeHead(file ? 200 : 404).end(file);
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  t.after(() => host.close());
  return `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
}
