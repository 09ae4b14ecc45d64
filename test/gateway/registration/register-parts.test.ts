import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { Registration } from '../../../src/gateway/contract.ts';
import { creationBody, partsOf } from '../../../src/gateway/registration/parts.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { anyText } from '../../lib/any-text.ts';
import { GENERATIONS, RULES } from '../../support/servers/fake-gateway/generations.ts';
import { createRow } from '../../support/servers/fake-gateway/rows.ts';
import { fieldFault, unwrapped } from '../../support/servers/fake-gateway/validation.ts';
import { type FakeGateway, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { anEntity, aServer, batchFor, type ClientChanges, H } from '../stage.ts';

const TOOL = {
  name: 'invoice_fields',
  integration_type: 'REST',
  request_type: 'POST',
  url: `${H}/api`,
  input_schema: {},
};
const RESOURCE = { uri: 'memo://one', name: 'Memo one', content: 'Hello.' };
const PROMPT = { name: 'Greet user', template: 'Hello {{ name }}', arguments: [{ name: 'name', required: true }] };

function registerParts(t: TestContext, gateway: FakeGateway, registration: JsonObject, changes?: ClientChanges) {
  return batchFor(t, gateway, changes).register(anEntity({ mcpRegistration: registration }));
}

function outcomes({ calls }: Registration): string[] {
  return calls.map(({ call, outcome, status }) => [call, outcome, status].filter(Boolean).join(' '));
}

for (const generation of GENERATIONS) {
  test(`parts: tool, resources, prompts, then the server are sent once each to ${generation}`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    const entity = aServer({ registration: { tool: TOOL, resources: [RESOURCE], prompts: [PROMPT] } });
    const first = await batchFor(t, gateway).register(entity);
    assert.equal(first.outcome, 'registered');
    const order = ['POST /tools', 'POST /resources', 'POST /prompts', 'POST /gateways'];
    assert.deepEqual(
      outcomes(first),
      order.map((call) => `${call} created 200`),
    );
    assert.deepEqual(
      gateway.lines({ withoutLists: true }).map((line) => line.replace('/v1', '')),
      order,
    );
    assert.equal(gateway.table.tools.find(({ gatewayId }) => gatewayId === null)?.fields.url, `${H}/api`);

    const again = await batchFor(t, gateway).register(entity);
    assert.equal(again.outcome, 'registered');
    assert.deepEqual(new Set(again.calls.map(({ outcome }) => outcome)), new Set(['exists']));
    assert.equal(gateway.lines({ withoutLists: true }).length, 4, 'the second time changes nothing');
  });

  test(`parts: names that differ only in spelling create no second tool at ${generation}`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    for (const name of ['dup_under', 'dup_under', 'dup-under', 'Dup.Under']) {
      const registration = await registerParts(t, gateway, { tool: { ...TOOL, name } });
      assert.equal(registration.outcome, 'registered');
    }
    assert.equal(gateway.table.tools.length, 1);
  });

  test(`parts: a tool of type MCP is left to discovery at ${generation}, and sent once`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    const batch = batchFor(t, gateway);
    for (const number of [1, 2]) {
      const tool = { name: `t${number}`, integration_type: 'MCP', url: `${H}/${number}/sse` };
      const registration = await batch.registerServer({
        name: `s${number}`,
        url: `${H}/${number}/sse`,
        registration: { tool },
      });
      assert.equal(registration.outcome, 'registered');
      assert.deepEqual(
        registration.calls.map(({ outcome }) => outcome),
        ['skipped', 'created'],
      );
    }
    assert.equal(gateway.lines().filter((line) => /POST .*\/tools$/.test(line)).length, 1);
  });
}

test('parts: a tool of type MCP without a server fails with the gateway’s message', async (t) => {
  const gateway = await startFakeGateway(t, { exposesErrors: true });
  const registration = await registerParts(t, gateway, { tool: { ...TOOL, integration_type: 'MCP' } });
  assert.match(
    registration.outcome === 'failed' ? registration.error : '',
    /^Tool 'invoice_fields': The gateway answered 422: .*MCP tools/,
  );
});

test('parts: a tool without an address is left to its server', async (t) => {
  const gateway = await startFakeGateway(t);
  const { url: _url, ...tool } = TOOL;
  const registration = await batchFor(t, gateway).registerServer({ registration: { tool } });
  assert.deepEqual(outcomes(registration), ['POST /tools skipped', 'POST /gateways created 200']);
  assert.equal(registration.outcome, 'registered');
});

test('parts: a changed address is a flat PUT to its path, and nothing else changes', async (t) => {
  const gateway = await startFakeGateway(t);
  await registerParts(t, gateway, { tool: TOOL });
  const moved = await registerParts(t, gateway, { tool: { ...TOOL, url: 'https://new.example/v2/api' } });
  assert.deepEqual(outcomes(moved), ['PUT /tools updated 200']);
  const { body } = gateway.calls.at(-1) ?? {};
  assert.equal(body?.tool, undefined, 'a wrapped PUT changes nothing');
  assert.deepEqual([body?.base_url, body?.path_template], ['https://new.example', '/v2/api']);
  assert.equal(gateway.table.tools[0]?.fields.url, 'https://new.example/v2/api');
});

test('parts: a changed manifest updates existing parts', async (t) => {
  const gateway = await startFakeGateway(t);
  const parts = { resources: [RESOURCE], prompts: [PROMPT] };
  const register = (registration: JsonObject) =>
    batchFor(t, gateway).register({ ...aServer({}), mcpRegistration: registration });
  await register(parts);
  const changed = {
    resources: [{ ...RESOURCE, content: 'another memo' }],
    prompts: [{ ...PROMPT, template: 'Good day, {{ name }}' }],
  };
  assert.deepEqual(outcomes(await register(changed)), ['PUT /resources updated 200', 'PUT /prompts updated 200']);
  assert.equal(gateway.table.resources[0]?.fields.content, 'another memo');
  assert.equal(gateway.table.prompts[0]?.fields.template, 'Good day, {{ name }}');
});

test('parts: parts that the server serves too are adopted, and exist the second time', async (t) => {
  const servers = { [`${H}/sse`]: { tools: ['echo'], resources: ['memo://one'], prompts: ['Greet user'] } };
  const gateway = await startFakeGateway(t, { servers });
  const entity = aServer({ registration: { resources: [RESOURCE], prompts: [PROMPT] } });
  await batchFor(t, gateway).register(entity);
  assert.ok(gateway.table.resources[0]?.gatewayId && gateway.table.prompts[0]?.gatewayId);
  const again = await batchFor(t, gateway).register(entity);
  assert.deepEqual(new Set(again.calls.map(({ outcome }) => outcome)), new Set(['exists']));
  assert.deepEqual([gateway.table.resources.length, gateway.table.prompts.length], [1, 1]);
});

test('parts: a tool discovered from a server does not count as the registered tool', async (t) => {
  const gateway = await startFakeGateway(t, { servers: { [`${H}/sse`]: { tools: ['invoice_fields'] } } });
  await batchFor(t, gateway).registerServer({ name: 'other' });
  const registration = await registerParts(t, gateway, { tool: TOOL });
  assert.deepEqual(outcomes(registration), ['POST /tools created 200']);
  assert.equal(gateway.table.tools.length, 2);
});

test('parts: 409 for an identical existing part is success', async (t) => {
  const gateway = await startFakeGateway(t);
  const batch = batchFor(t, gateway);
  await batch.register(anEntity({ name: 'zero', mcpRegistration: { resources: [{ uri: 'memo://zero' }] } }));
  gateway.table.resources.push(createRow('By hand', { uri: 'memo://one', content: 'Hello.' }));
  const shown = await batch.register(anEntity({ mcpRegistration: { resources: [RESOURCE] } }));
  assert.deepEqual(outcomes(shown), ['POST /resources exists 409']);
  assert.match(shown.calls[0]?.note ?? '', /This hub did not create it/);
});

test('parts: 409 for a part that the token cannot see is a conflict', async (t) => {
  const gateway = await startFakeGateway(t);
  const detail = 'Public Prompt already exists with name: greet-user';
  gateway.surprise('POST /v1/prompts', { status: 409, body: { detail } });
  const hidden = await registerParts(t, gateway, { prompts: [PROMPT] });
  assert.equal(
    hidden.outcome === 'failed' && hidden.error,
    `Prompt 'Greet user': The gateway answered 409: ${detail}. With this token, the hub cannot see who owns it in the gateway.`,
  );
});

for (const [kind, part] of [
  ['tools', { tool: { ...TOOL, name: 'part-59', url: `${H}/59` } }],
  ['prompts', { prompts: [{ name: 'part-59', template: 'x' }] }],
] as const) {
  test(`parts: finds all ${kind} of 0.9, which lists 50 at a time`, async (t) => {
    const gateway = await startFakeGateway(t, { generation: '0.9' });
    for (let number = 0; number < 100; number += 1)
      gateway.table[kind].push(createRow(`part-${number}`, { url: `${H}/${number}`, template: 'x' }));
    const registration = await registerParts(t, gateway, part);
    assert.deepEqual(outcomes(registration), [`POST /${kind} exists`]);
    assert.equal(gateway.calls.length, 3, 'the last page is empty');
  });
}

test('parts: 409 means that a resource of 0.9 exists, even if it is not among the fifty listed', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '0.9' });
  for (let number = 0; number < 60; number += 1)
    gateway.table.resources.push(createRow(`r${number}`, { uri: `memo://${number}`, content: '' }, { id: number + 1 }));
  const registration = await registerParts(t, gateway, { resources: [{ uri: 'memo://59' }] });
  assert.deepEqual(outcomes(registration), ['POST /resources exists 409']);
});

for (const surprise of ['lost', 'dropped'] as const) {
  test(`parts: a POST whose connection breaks (${surprise}) creates no second tool`, async (t) => {
    const gateway = await startFakeGateway(t);
    const batch = batchFor(t, gateway);
    await batch.register(anEntity({ mcpRegistration: { prompts: [PROMPT] } }));
    gateway.surprise('POST /v1/tools', surprise);
    const registration = await batch.register(anEntity({ mcpRegistration: { tool: TOOL } }));
    assert.equal(registration.outcome, 'registered');
    assert.equal(gateway.table.tools.length, 1);
  });
}

const refusals = [
  {
    registration: { resources: [{ ...RESOURCE, content: 'x'.repeat(102_401) }] },
    says: /^Resource 'memo:\/\/one': .*413.*larger/,
  },
  {
    registration: { resources: [{ ...RESOURCE, content: '<html>' }] },
    says: /^Resource 'memo:\/\/one': .*422.*characters/,
  },
  { registration: { prompts: [{ ...PROMPT, template: '{{ self.x }}' }] }, says: /^Prompt 'Greet user': .*422/ },
  {
    registration: { tool: { ...TOOL, url: 'http://127.0.0.1/api' } },
    says: /^Tool 'invoice_fields': .*422.*SSRF_ALLOW_LOCALHOST/,
  },
];
for (const { registration, says } of refusals) {
  test(`parts: an error like ${says} is reported, and the server is registered nevertheless`, async (t) => {
    const gateway = await startFakeGateway(t);
    const outcome = await batchFor(t, gateway).registerServer({ registration });
    assert.match(outcome.outcome === 'failed' ? outcome.error : '', says);
    assert.equal(gateway.table.gateways.length, 1);
  });
}

const hopeless = [
  { registration: { tool: { name: 'a' } }, error: "Tool 'a': it has no address." },
  {
    registration: { tool: { name: 'a', url: 'mcp+stdio://a' } },
    error: "Tool 'a': its address (mcp+stdio://a) cannot be called over http.",
  },
  {
    registration: { tool: { name: 'a', url: `${H}/{id}` } },
    error: `Tool 'a': its address is a template (${H}/{id}).`,
  },
  {
    registration: { tool: { name: 'a', url: 'https://u:hunter2@h.example' } },
    error: "Tool 'a': its address contains credentials, which gateways refuse; use auth fields instead.",
  },
  {
    registration: { tool: { name: 'a', url: H, request_type: 'SSE' } },
    error: "Tool 'a': its request_type 'SSE' is not one of GET, POST, PUT, DELETE, PATCH.",
  },
  { registration: { resources: [{ name: 'a' }] }, error: "Resource '': it has no uri." },
  {
    registration: { resources: [{ uri: 'a/../b' }] },
    error: "Resource 'a/../b': its uri contains characters that gateways refuse.",
  },
  { registration: { prompts: [{ template: 'x' }] }, error: "Prompt 'unnamed': it has no name." },
];
for (const { registration, error } of hopeless) {
  test(`parts: the gateway is not called: ${error}`, async (t) => {
    const gateway = await startFakeGateway(t);
    const outcome = await registerParts(t, gateway, registration);
    assert.deepEqual(outcome.outcome === 'failed' && [outcome.error, outcome.isPermanent], [error, true]);
    assert.equal(gateway.calls.length, 0);
  });
}

test('parts: reports all of several errors', async (t) => {
  const gateway = await startFakeGateway(t, { servers: { [`${H}/sse`]: { fault: 'refused' } } });
  const registration = { resources: [{ name: 'a' }, { uri: 'b..' }] };
  const outcome = await batchFor(t, gateway).registerServer({ registration });
  assert.match(
    outcome.outcome === 'failed' ? outcome.error : '',
    /no uri\. Resource 'b\.\.'.*refuse\. The gateway answered 502: .*failed\.$/,
  );
  assert.equal(outcome.outcome === 'failed' && outcome.isPermanent, false, 'the server may come up');
});

test('parts: a down gateway or a refused token ends the registration', async (t) => {
  const gateway = await startFakeGateway(t);
  const wrong = await registerParts(t, gateway, { tool: TOOL }, { credentials: { jwtSecret: 'wrong' } });
  assert.equal(wrong.outcome, 'gateway_down');
  await gateway.stop();
  assert.equal((await registerParts(t, gateway, { tool: TOOL })).outcome, 'gateway_down');
  assert.deepEqual(gateway.table.tools, []);
});

test('parts: auth fields reach only the gateway', async (t) => {
  const gateway = await startFakeGateway(t);
  const tool = { ...TOOL, headers: { 'X-Key': 'hunter2-header' }, auth_type: 'bearer', auth_token: 'hunter2-token' };
  gateway.surprise('POST /tools', { status: 400, body: { detail: 'hunter2-header hunter2-token' } });
  gateway.surprise('POST /v1/tools', { status: 400, body: { detail: 'hunter2-header hunter2-token' } });
  const registration = await registerParts(t, gateway, { tool });
  const sent = gateway.calls.find(({ method }) => method === 'POST')?.body?.tool;
  assert.equal((sent as JsonObject | undefined)?.auth_token, 'hunter2-token');
  assert.doesNotMatch(JSON.stringify(registration), /hunter2/);
});

test('partsOf: for every valid document, sends what gateways of all versions accept', () => {
  const guard = { allowsLocalhost: true, unresolvable: [] };
  const value = fc.oneof(anyText(), fc.webUrl(), fc.constantFrom('REST', 'GET'), fc.integer(), fc.constant(null));
  const thing = fc.dictionary(
    fc.constantFrom('id', 'name', 'url', 'uri', 'description', 'integration_type', 'request_type', 'template'),
    value,
  );
  const registration = fc.record(
    { tool: thing, resources: fc.array(thing), prompts: fc.array(thing) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(registration, (document) => {
      for (const part of partsOf(document, 'entity').filter(({ fault, isDiscovered }) => !fault && !isDiscovered)) {
        // A template may be refused for its content; this test covers the rest.
        const { template } = part.fields;
        const safe = { ...part, fields: { ...part.fields, ...(template ? { template: 'x' } : {}) } };
        for (const generation of GENERATIONS) {
          const fields = unwrapped(part.kind, creationBody(safe), RULES[generation]) ?? {};
          assert.equal(fieldFault(part.kind, fields, RULES[generation], guard), undefined, JSON.stringify(part));
        }
      }
    }),
  );
});
