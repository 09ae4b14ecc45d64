// Valid and invalid requests generated from the OpenAPI document: the document describes every response.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import type { HTTPMethods } from 'fastify';
import { readDemoCatalog } from '../../src/cli/demo.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { type Answer, inject } from '../http/wire.ts';
import { anyText } from '../lib/any-text.ts';
import { testHub } from '../support/hub.ts';
import { oddValue, RUNS } from './odd.ts';

interface Schema extends JsonObject {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

interface Operation {
  operationId: string;
  parameters?: { name: string; in: 'query' | 'path'; schema: Schema; example?: unknown }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const TOKEN = 'a-token-of-the-test-of-some-length';
const RUNS_EACH = { ...RUNS, numRuns: 10 };
/** These fetch from addresses or install on this machine. Other tests fuzz their bodies safely. */
const REACHES_OUT = ['install', 'checkTrust'];

test('fuzz: every operation answers as the document says, whatever it gets', async (t) => {
  const settings = { API_TOKEN: TOKEN, METRICS_TOKEN: TOKEN, ALLOW_PRIVATE_NETWORK: 'false' };
  const { app, hub } = await testHub(t, { settings });
  await hub.load(await readDemoCatalog());
  const document: Document = JSON.parse((await inject(app, '/openapi.json')).body);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');

  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      if (REACHES_OUT.includes(operation.operationId)) continue;
      await t.test(`${method} ${path}`, async () => {
        await fc.assert(
          fc.asyncProperty(requestOf(path, operation, document), async ({ url, payload }) => {
            const request = {
              method: method.toUpperCase() as HTTPMethods,
              url,
              headers: { authorization: `Bearer ${TOKEN}`, ...(payload !== undefined && JSON_BODY) },
              ...(payload !== undefined && { payload }),
            };
            assertDocumented({ path, method, operation }, await inject(app, request));
          }),
          RUNS_EACH,
        );
      });
    }
  }

  await t.test('few and many wrong tokens', async () => {
    for (let round = 0; round < 2; round += 1)
      for (const [path, methods] of Object.entries(document.paths))
        for (const [method, operation] of Object.entries(methods)) {
          const headers = { authorization: `Bearer wrong-${round}-${operation.operationId}` };
          const url = path.replaceAll(/\{\w+\}/g, 'x');
          const answer = await inject(app, { method: method.toUpperCase() as HTTPMethods, url, headers });
          assertDocumented({ path, method, operation }, answer);
        }
  });

  function assertDocumented(
    { path, method, operation }: { path: string; method: string; operation: Operation },
    { status, headers, body }: Answer,
  ): void {
    assert.ok(status < 500, `${status}: ${body.slice(0, 500)}`);
    const response = operation.responses[status];
    assert.ok(response, `${status} is not in the document: ${body.slice(0, 500)}`);
    const [type = ''] = String(headers['content-type'] ?? '').split(';');
    if (body === '' && !response.content) return;
    assert.ok(response.content?.[type], `${type} is not in the document for ${status}`);
    if (!type.endsWith('json')) return;
    const pointer = ['paths', path, method, 'responses', String(status), 'content', type, 'schema'];
    const valid = ajv.getSchema(`api#/${pointer.map(escaped).join('/')}`);
    assert.ok(valid?.(JSON.parse(body)), `${ajv.errorsText(valid?.errors)}: ${body.slice(0, 500)}`);
  }
});

const JSON_BODY = { 'content-type': 'application/json' };

function requestOf(path: string, { parameters = [], requestBody }: Operation, document: Document) {
  const value = ({ schema, example }: { schema: Schema; example?: unknown }) =>
    fc.oneof(
      ...(example === undefined ? [] : [fc.constant(example)]),
      described(schema, document, 2).map((each) => (typeof each === 'object' ? JSON.stringify(each) : String(each))),
      anyText(),
    );
  const values = fc.tuple(
    ...parameters.map((each) => (each.in === 'path' ? value(each) : fc.option(value(each), { nil: undefined }))),
  );
  const schema = requestBody?.content['application/json']?.schema;
  const body = schema ? fc.option(bodyOf(schema, document), { nil: undefined }) : fc.constant(undefined);
  return fc.tuple(values, body).map(([all, payload]) => {
    let url = path;
    const query = new URLSearchParams();
    for (const [index, parameter] of parameters.entries()) {
      const text = String(all[index]).toWellFormed();
      // Without its last segment, the path belongs to another operation.
      if (parameter.in === 'path') url = url.replace(`{${parameter.name}}`, encodeURIComponent(text || 'x'));
      else if (all[index] !== undefined) query.append(parameter.name, text);
    }
    return { url: query.size > 0 ? `${url}?${query}` : url, payload };
  });
}

function bodyOf(schema: Schema, document: Document): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: described(schema, document, 4).map((value) => JSON.stringify(value) ?? 'null') },
    { weight: 1, arbitrary: fc.oneof(fc.json(), anyText(50)) },
  );
}

/** Values that match the schema, some of them odd. */
function described(schema: Schema, document: Document, depth: number): fc.Arbitrary<unknown> {
  if (depth === 0) return oddValue;
  if (typeof schema.$ref === 'string')
    return described(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, document, depth - 1);
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].find(Array.isArray) as Schema[] | undefined;
  if (choices) return fc.oneof(...choices.map((choice) => described(choice, document, depth)));
  const right = rightValue(schema, document, depth);
  return fc.oneof({ weight: 8, arbitrary: right }, { weight: 1, arbitrary: oddValue });
}

function rightValue(schema: Schema, document: Document, depth: number): fc.Arbitrary<unknown> {
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if ('const' in schema) return fc.constant(schema.const);
  const made: Record<string, () => fc.Arbitrary<unknown>> = {
    object: () => {
      const shape = Object.entries(schema.properties ?? {});
      return fc.record(
        Object.fromEntries(shape.map(([name, inner]) => [name, described(inner, document, depth - 1)])),
        {
          requiredKeys: schema.required?.filter((name) => schema.properties?.[name]) ?? [],
          noNullPrototype: true,
        },
      );
    },
    array: () => fc.array(described(schema.items ?? {}, document, depth - 1), { maxLength: 3 }),
    integer: () => fc.integer({ min: Number(schema.minimum ?? -5), max: Math.min(Number(schema.maximum ?? 200), 1e9) }),
    number: () => fc.double({ min: 0, max: 1, noNaN: true }),
    boolean: () => fc.boolean(),
    null: () => fc.constant(null),
    string: () => anyText(30),
  };
  const type = [schema.type].flat()[0] ?? '';
  const arbitrary = made[type]?.() ?? oddValue;
  return examples.length > 0 ? fc.oneof(fc.constantFrom(...examples), arbitrary) : arbitrary;
}

function escaped(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
}
