import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Registration } from '../../../src/gateway/contract.ts';
import { createFetch } from '../../../src/lib/net/fetch.ts';
import { GENERATIONS } from '../../support/servers/fake-gateway/generations.ts';
import { createRow } from '../../support/servers/fake-gateway/rows.ts';
import { type FakeGateway, startFakeGateway } from '../../support/servers/fake-gateway.ts';
import { until } from '../../support/until.ts';
import { aServer, batchFor, H, recordsOf } from '../stage.ts';

/** The only server in the gateway, as `name transport url`. */
function onlyServer({ table }: FakeGateway): string {
  assert.equal(table.gateways.length, 1);
  const [row] = table.gateways;
  return `${row?.originalName} ${row?.fields.transport} ${row?.fields.url}`;
}

function outcomes({ calls }: Registration): string[] {
  return calls.map(({ call, outcome, status }) => [call, outcome, status].filter(Boolean).join(' '));
}

function errorOf(registration: Registration): string {
  assert.equal(registration.outcome, 'failed');
  return registration.outcome === 'failed' ? registration.error : '';
}

for (const generation of GENERATIONS) {
  test(`server: is registered at ${generation}, and a second time changes nothing`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    const first = await batchFor(t, gateway).registerServer({ name: 'io.github.owner/thing' });
    assert.deepEqual(outcomes(first), ['POST /gateways created 200']);
    assert.equal(first.outcome === 'registered' && first.name, 'io.github.owner-thing');
    assert.equal(onlyServer(gateway), `io.github.owner-thing SSE ${H}/sse`);
    assert.equal(gateway.table.tools.length, 1, 'the gateway discovered its tool');

    const [before] = structuredClone(gateway.table.gateways);
    gateway.calls.length = 0;
    const again = await batchFor(t, gateway).registerServer({ name: 'io.github.owner/thing' });
    assert.deepEqual(outcomes(again), ['GET /gateways exists']);
    assert.deepEqual(gateway.table.gateways[0], before);
    assert.deepEqual(gateway.lines({ withoutLists: true }), []);
  });

  test(`server: an unreachable one gets the reason of ${generation}, and is tried once`, async (t) => {
    const gateway = await startFakeGateway(t, { generation, servers: { [`${H}/sse`]: { fault: 'refused' } } });
    const registration = await batchFor(t, gateway).registerServer({});
    assert.match(
      errorOf(registration),
      /^The gateway answered 50[23]: (Failed to initialize.*All connection|Unable to connect)/,
    );
    assert.equal(gateway.lines({ withoutLists: true }).length, 1);
    assert.equal(registration.outcome === 'failed' && registration.isPermanent, false);
  });

  test(`server: streamable HTTP under /mcp, labeled SSE, is detected at ${generation}`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    const registration = await batchFor(t, gateway).registerServer({ url: `${H}/mcp` });
    assert.equal(registration.outcome, 'registered');
    assert.equal(onlyServer(gateway), `pdf-tables STREAMABLEHTTP ${H}/mcp`);
    const again = await batchFor(t, gateway).registerServer({ url: `${H}/mcp` });
    assert.deepEqual(outcomes(again), ['GET /gateways exists'], 'also when the label differs from the row');
  });
}

test('server: an address without a path is tried at /messages/, then at /sse', async (t) => {
  const gateway = await startFakeGateway(t);
  const registration = await batchFor(t, gateway).registerServer({ url: H });
  assert.deepEqual(outcomes(registration), ['POST /gateways failed 502', 'POST /gateways created 200']);
  assert.match(registration.calls[0]?.error ?? '', /405 Method Not Allowed/);
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/sse`);
});

test('server: /messages/ stays unchanged and fails with 502', async (t) => {
  const gateway = await startFakeGateway(t);
  const registration = await batchFor(t, gateway).registerServer({ url: `${H}/messages` });
  assert.match(errorOf(registration), /502: .*405 Method Not Allowed/);
  assert.equal(gateway.calls.at(-1)?.body?.url, `${H}/messages/`);
});

test('server: HTTP is sent unchanged, then as STREAMABLEHTTP after a newer gateway refuses it', async (t) => {
  const newer = await startFakeGateway(t);
  const batch = batchFor(t, newer);
  const first = await batch.registerServer({ transport: 'HTTP', url: `${H}/1/mcp`, name: 'one' });
  assert.deepEqual(outcomes(first), ['POST /gateways failed 422', 'POST /gateways created 200']);
  const second = await batch.registerServer({ transport: 'HTTP', url: `${H}/2/mcp`, name: 'two' });
  assert.deepEqual(outcomes(second), ['POST /gateways created 200'], 'one refusal is remembered');
  assert.deepEqual(
    newer.table.gateways.map(({ fields }) => fields.transport),
    ['STREAMABLEHTTP', 'STREAMABLEHTTP'],
  );
});

for (const generation of ['0.9', '1.0.3'] as const) {
  test(`server: HTTP, which ${generation} stores without connecting, is created again as STREAMABLEHTTP`, async (t) => {
    const gateway = await startFakeGateway(t, { generation });
    const batch = batchFor(t, gateway);
    const first = await batch.registerServer({ transport: 'HTTP', url: `${H}/1/mcp`, name: 'one' });
    assert.deepEqual(outcomes(first), [
      'POST /gateways created 200',
      'DELETE /gateways deleted 200',
      'POST /gateways created 200',
    ]);
    assert.equal(first.outcome === 'registered' && first.name, 'one', 'its name is free again');
    assert.equal(onlyServer(gateway), `one STREAMABLEHTTP ${H}/1/mcp`);
    assert.equal(gateway.table.tools.length, 1, 'the gateway connected, and discovered its tool');
    const second = await batch.registerServer({ transport: 'HTTP', url: `${H}/2/mcp`, name: 'two' });
    assert.deepEqual(outcomes(second), ['POST /gateways created 200'], 'one answer is remembered');
    const again = await batchFor(t, gateway).registerServer({ transport: 'HTTP', url: `${H}/1/mcp`, name: 'one' });
    assert.deepEqual(outcomes(again), ['GET /gateways exists']);
  });

  test(`server: HTTP at ${generation} without a listener fails and leaves nothing behind`, async (t) => {
    const gateway = await startFakeGateway(t, { generation, servers: { [`${H}/mcp`]: { fault: 'refused' } } });
    const registration = await batchFor(t, gateway).registerServer({ transport: 'HTTP', url: `${H}/mcp` });
    assert.match(errorOf(registration), /^The gateway answered 50[23]: /);
    assert.deepEqual(gateway.table.gateways, []);
  });
}

test('server: an HTTP server that was never connected is replaced if the hub created it', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '1.0.3' });
  const fields = { url: `${H}/mcp`, transport: 'HTTP' };
  const row = createRow('pdf-tables', fields);
  gateway.table.gateways.push(row);
  const item = { kind: 'gateways', id: String(row.id), name: 'pdf-tables', isOurs: true, bodyDigest: null } as const;
  recordsOf(gateway).set('mcp_server:pdf-tables@1.0.0', [item]);
  await batchFor(t, gateway).registerServer({ ...fields });
  assert.equal(onlyServer(gateway), `pdf-tables STREAMABLEHTTP ${H}/mcp`);

  gateway.table.gateways = [createRow('Made by hand', fields)];
  recordsOf(gateway).clear();
  const registration = await batchFor(t, gateway).registerServer({ ...fields });
  assert.match(
    errorOf(registration),
    /has it as 'Made by hand' with the transport HTTP, which it cannot use to connect/,
  );
  assert.equal(onlyServer(gateway), `Made by hand HTTP ${H}/mcp`);
});

test('server: an update never changes the transport to HTTP', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '1.0.3' });
  await batchFor(t, gateway).registerServer({ url: `${H}/sse` });
  const changed = await batchFor(t, gateway).registerServer({ transport: 'HTTP', url: `${H}/mcp` });
  assert.deepEqual(outcomes(changed), ['PUT /gateways updated 200']);
  assert.equal(onlyServer(gateway), `pdf-tables STREAMABLEHTTP ${H}/mcp`);
});

test('server: tools that the gateway left out are a note, not a failure', async (t) => {
  const servers = { [`${H}/sse`]: { tools: ['a'], skippedTools: ['b: description too long'] } };
  const gateway = await startFakeGateway(t, { servers });
  const { calls, outcome } = await batchFor(t, gateway).registerServer({});
  assert.equal(outcome, 'registered');
  assert.equal(calls[0]?.note, 'The gateway left out tools: b: description too long');
});

const faults = [
  { fault: 'session terminated', says: /Session terminated/ },
  { fault: 'redirects', says: /307.*register the address that the server redirects to/ },
  { fault: 'method not found', says: /Method not found/ },
  { fault: 'internal error', says: /500 Internal Server Error/ },
  { fault: 'all tools invalid', says: /All 1 tools failed validation/ },
] as const;
for (const { fault, says } of faults) {
  test(`server: '${fault}' is reported with the gateway’s message`, async (t) => {
    const gateway = await startFakeGateway(t, { servers: { [`${H}/sse`]: { fault } } });
    assert.match(errorOf(await batchFor(t, gateway).registerServer({})), says);
  });
}

test('server: a protected server is refused without auth_token and accepted with it; the token is never shown', async (t) => {
  const gateway = await startFakeGateway(t, { servers: { [`${H}/sse`]: { bearer: 'hunter2-token' } } });
  const batch = batchFor(t, gateway);
  assert.match(errorOf(await batch.registerServer({})), /401 Unauthorized.*put auth_type and auth_token/);
  const wrong = await batch.registerServer({ server: { auth_type: 'bearer', auth_token: 'hunter2-wrong' } });
  assert.match(errorOf(wrong), /401 Unauthorized/);
  const right = await batch.registerServer({ server: { auth_type: 'bearer', auth_token: 'hunter2-token' } });
  assert.equal(right.outcome, 'registered');
  assert.equal(gateway.calls.at(-1)?.body?.auth_token, 'hunter2-token');
  assert.doesNotMatch(JSON.stringify([wrong, right]), /hunter2/);
});

test('server: sends new credentials of a manifest, and only new ones', async (t) => {
  const gateway = await startFakeGateway(t);
  const server = { auth_type: 'bearer', auth_token: 'first-token' };
  await batchFor(t, gateway).registerServer({ server });
  const second = { ...server, auth_token: 'second-token' };
  const changed = await batchFor(t, gateway).registerServer({ server: second });
  assert.deepEqual(outcomes(changed), ['PUT /gateways updated 200']);
  assert.equal(gateway.table.gateways[0]?.fields.auth_token, 'second-token');
  const same = await batchFor(t, gateway).registerServer({ server: second });
  assert.deepEqual(outcomes(same), ['GET /gateways exists']);
});

test('server: gateway 0.9 cannot change a server with credentials, so it is created again', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '0.9' });
  const server = (token: string) => ({ auth_type: 'bearer', auth_token: token });
  await batchFor(t, gateway).registerServer({ server: server('first-token') });
  const path = `PUT /gateways/${gateway.table.gateways[0]?.id}`;
  for (const _try of [1, 2]) gateway.surprise(path, { status: 500, body: { message: 'Unexpected error' } });
  const changed = await batchFor(t, gateway).registerServer({ server: server('second-token') });
  assert.deepEqual(outcomes(changed), ['DELETE /gateways deleted 200', 'POST /gateways created 200']);
  assert.equal(gateway.table.gateways[0]?.fields.auth_token, 'second-token');
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/sse`);
});

test('server: an empty 422 is reported with its likely cause', async (t) => {
  const gateway = await startFakeGateway(t, { unresolvable: ['nowhere.example'] });
  const batch = batchFor(t, gateway);
  const local = await batch.registerServer({ url: 'http://127.0.0.1:6288/sse' });
  assert.match(
    errorOf(local),
    /^The gateway answered 422: An error occurred, please try again\. Gateways refuse loopback/,
  );
  assert.match(errorOf(await batch.registerServer({ url: 'https://nowhere.example' })), /cannot resolve/);
  assert.equal(gateway.lines({ withoutLists: true }).length, 2, 'a second address would not help');
  const telling = await startFakeGateway(t, { exposesErrors: true });
  const detailed = await batchFor(t, telling).registerServer({ url: 'http://127.0.0.1:6288/sse' });
  assert.match(errorOf(detailed), /422: body\.url: Value error, URL points to a blocked address\./);
});

test('server: 127.0.0.1 and localhost are the same', async (t) => {
  const gateway = await startFakeGateway(t, { allowsLocalhost: true });
  await batchFor(t, gateway).registerServer({ url: 'http://127.0.0.1:8000/sse' });
  const again = await batchFor(t, gateway).registerServer({ url: 'http://127.0.0.1:8000/sse', name: 'other name' });
  assert.deepEqual(outcomes(again), ['GET /gateways exists']);
});

test('server: a changed address, transport or name is a PUT', async (t) => {
  const gateway = await startFakeGateway(t);
  await batchFor(t, gateway).registerServer({});
  const [{ id } = { id: '' }] = gateway.table.gateways;
  const server = { name: 'Renamed' };
  const moved = await batchFor(t, gateway).registerServer({ server, url: `${H}/new/sse` });
  assert.deepEqual(outcomes(moved), ['PUT /gateways updated 200']);
  assert.equal(moved.outcome === 'registered' && moved.name, 'Renamed');
  assert.equal(onlyServer(gateway), `Renamed SSE ${H}/new/sse`);
  gateway.servers.set(`${H}/new/sse`, { transport: 'STREAMABLEHTTP' });
  await batchFor(t, gateway).registerServer({ url: `${H}/new/sse`, transport: 'STREAMABLE-HTTP', server });
  assert.equal(gateway.table.gateways[0]?.fields.transport, 'STREAMABLEHTTP');
  assert.equal(gateway.table.gateways[0]?.id, id);
});

test('server: a move to an unreachable address leaves the registered server unchanged', async (t) => {
  const gateway = await startFakeGateway(t, { servers: { [`${H}/new/sse`]: { fault: 'refused' } } });
  await batchFor(t, gateway).registerServer({});
  const moved = await batchFor(t, gateway).registerServer({
    url: `${H}/new/sse`,
  });
  assert.match(errorOf(moved), /All connection attempts failed/);
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/sse`);
});

test('server: one that was deleted in the gateway is created again under its old name', async (t) => {
  const gateway = await startFakeGateway(t);
  const batch = batchFor(t, gateway);
  await batch.registerServer({});
  gateway.table.gateways.length = 0;
  const moved = await batch.registerServer({ url: `${H}/new/sse` });
  assert.deepEqual(outcomes(moved), ['POST /gateways created 200']);
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/new/sse`);
});

test('server: a move to an address that is already registered is success', async (t) => {
  const gateway = await startFakeGateway(t);
  await batchFor(t, gateway).registerServer({});
  const batch = batchFor(t, gateway);
  await batch.registerServer({});
  gateway.table.gateways.push(createRow('By hand', { url: `${H}/new/sse`, transport: 'SSE' }));
  const moved = await batch.registerServer({ url: `${H}/new/sse` });
  assert.deepEqual(outcomes(moved), ['PUT /gateways exists 409', 'DELETE /gateways deleted 200']);
  assert.deepEqual(
    gateway.table.gateways.map(({ originalName }) => originalName),
    ['By hand'],
    'its own row is deleted',
  );
});

test('server: a taken name gets the version, then a unique suffix', async (t) => {
  const gateway = await startFakeGateway(t);
  const batch = batchFor(t, gateway);
  const names = [];
  for (const [index, version] of ['1.0.0', '1.0.0', '1.0.0'].entries()) {
    const entity = { version, uid: `mcp_server:x${index}@1.0.0` };
    const registration = await batch.registerServer({ name: 'Same/Name', url: `${H}/${index}/sse`, entity });
    names.push(registration.outcome === 'registered' && registration.name);
  }
  assert.deepEqual(names.slice(0, 2), ['Same-Name', 'Same-Name-1.0.0']);
  assert.match(String(names[2]), /^Same-Name-[0-9a-f]{8}$/);
});

test('server: names that collide only in the gateway are kept apart, also concurrently', async (t) => {
  const gateway = await startFakeGateway(t, { latencyMs: 10 });
  const batch = batchFor(t, gateway);
  const names = ['Hub A', 'hub-a', 'hub_a', 'HUB.A'];
  const registrations = await Promise.all(
    names.map((name, index) =>
      batch.registerServer({ name, url: `${H}/${index}/sse`, entity: { version: `${index}.0` } }),
    ),
  );
  assert.deepEqual(new Set(registrations.map(({ outcome }) => outcome)), new Set(['registered']));
  assert.equal(gateway.calls.filter(({ status }) => status === 409).length, 0);
});

test('server: a name owned by an unlisted server is refused, and the next one is used', async (t) => {
  const gateway = await startFakeGateway(t);
  gateway.table.gateways.push(createRow('pdf tables', { url: `${H}/hidden`, transport: 'SSE' }, { enabled: true }));
  const hidden = gateway.table.gateways[0];
  gateway.onCall(({ method }) => {
    // Exists, but is not listed.
    if (hidden) hidden.enabled = method !== 'GET';
  });
  gateway.surprise('GET /gateways', { status: 200, body: [] });
  gateway.surprise('GET /gateways', { status: 200, body: [] });
  gateway.surprise('GET /v1/gateways', { status: 200, body: [] });
  const registration = await batchFor(t, gateway).registerServer({});
  assert.deepEqual(outcomes(registration), ['POST /gateways failed 409', 'POST /gateways created 200']);
  assert.equal(registration.outcome === 'registered' && registration.name, 'pdf-tables-1.0.0');
});

test('server: an already registered address is success, under any name', async (t) => {
  const gateway = await startFakeGateway(t);
  gateway.table.gateways.push(createRow('By hand', { url: `${H}/sse`, transport: 'SSE' }));
  const registration = await batchFor(t, gateway).registerServer({});
  assert.deepEqual(outcomes(registration), ['GET /gateways exists']);
  assert.deepEqual(
    registration.calls.map(({ name, note }) => [name, note]),
    [['By hand', 'The gateway already has it. This hub did not create it, so it stays unchanged.']],
  );
});

test('server: 409 is success only when the gateway shows the same server', async (t) => {
  const gateway = await startFakeGateway(t);
  const batch = batchFor(t, gateway);
  await batch.registerServer({ name: 'first', url: `${H}/first/sse` });
  gateway.table.gateways.push(createRow('Behind its back', { url: `${H}/sse`, transport: 'SSE' }));
  const same = await batch.registerServer({});
  assert.deepEqual(outcomes(same), ['POST /gateways exists 409']);

  gateway.surprise('POST /v1/gateways', { status: 409, body: { message: 'Gateway already exists' } });
  const hidden = await batch.registerServer({ name: 'hidden', url: `${H}/hidden/sse` });
  assert.equal(
    errorOf(hidden),
    'The gateway answered 409: Gateway already exists. With this token, the hub cannot see who owns it in the gateway.',
  );
});

test('server: an address registered with another transport is a conflict that names both', async (t) => {
  const gateway = await startFakeGateway(t);
  gateway.table.gateways.push(createRow('By hand', { url: `${H}/sse`, transport: 'STREAMABLEHTTP' }));
  const registration = await batchFor(t, gateway).registerServer({});
  assert.deepEqual(outcomes(registration), ['POST /gateways failed 409']);
  assert.equal(
    errorOf(registration),
    "The gateway answered 409: Gateway already exists. It has that address as 'By hand' with the transport STREAMABLEHTTP.",
  );
});

test('server: when hidden servers own every name, reports the gateway’s message', async (t) => {
  const gateway = await startFakeGateway(t);
  const taken = { status: 409, body: { message: 'Gateway name already exists' } };
  gateway.surprise('POST /gateways', taken);
  for (const _name of [1, 2, 3]) gateway.surprise('POST /v1/gateways', taken);
  const registration = await batchFor(t, gateway).registerServer({});
  assert.deepEqual(outcomes(registration), Array(3).fill('POST /gateways failed 409'));
  assert.equal(
    errorOf(registration),
    'All names for it are taken in the gateway. The gateway answered 409: Gateway name already exists.',
  );
});

test('server: 500 for an existing name triggers a lookup', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '0.9' });
  const batch = batchFor(t, gateway);
  await batch.registerServer({ name: 'first', url: `${H}/first/sse` });
  gateway.table.gateways.push(createRow('pdf-tables', { url: `${H}/sse`, transport: 'SSE' }));
  gateway.surprise('POST /gateways', { status: 500, body: { detail: 'Unexpected error' } });
  assert.equal((await batch.registerServer({})).outcome, 'registered');
});

for (const surprise of ['lost', 'dropped'] as const) {
  test(`server: a POST whose connection breaks (${surprise}) is looked up before a retry`, async (t) => {
    const gateway = await startFakeGateway(t, { generation: '1.0.3' });
    gateway.surprise('POST /gateways', surprise);
    const registration = await batchFor(t, gateway).registerServer({});
    assert.equal(registration.outcome, 'registered');
    assert.equal(gateway.table.gateways.length, 1);
    assert.equal(gateway.lines({ withoutLists: true }).length, surprise === 'lost' ? 1 : 2);
  });
}

test('server: a hanging one is cut off in time, and nothing is left behind', async (t) => {
  const gateway = await startFakeGateway(t, { servers: { [`${H}/sse`]: { fault: 'hangs' } } });
  const registration = await batchFor(t, gateway, { slowTimeoutMs: 100 }).registerServer({});
  assert.equal(
    errorOf(registration),
    `The gateway did not answer within 0.1 s; the cause may be the server at ${H}/sse.`,
  );
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(gateway.table.gateways.length, 0);
});

test('server: one that an old gateway created after the timeout is found by the next sync', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '0.9', servers: { [`${H}/sse`]: { fault: 'hangs' } } });
  assert.equal((await batchFor(t, gateway, { slowTimeoutMs: 100 }).registerServer({})).outcome, 'failed');
  await until(() => gateway.table.gateways.length === 1);
  assert.deepEqual(outcomes(await batchFor(t, gateway).registerServer({})), ['GET /gateways exists']);
});

test('server: 202 is polled until it is active', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 3 });
  const registration = await batchFor(t, gateway).registerServer({});
  assert.deepEqual(outcomes(registration), ['POST /gateways created 202']);
  assert.equal(gateway.lines().filter((line) => line.startsWith('GET /v1/gateways/')).length, 3);
});

test('server: a later error after 202 is a failure until the gateway has connected', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 2, servers: { [`${H}/sse`]: { fault: 'refused' } } });
  const first = await batchFor(t, gateway).registerServer({});
  assert.equal(
    errorOf(first),
    `The gateway accepted it, then reported: Failed to initialize gateway at ${H}/sse: All connection attempts failed.`,
  );
  const second = await batchFor(t, gateway).registerServer({});
  assert.match(errorOf(second), /, then reported/, 'being listed is not enough');
  assert.equal(gateway.lines({ withoutLists: true }).length, 1, 'the gateway retries, so nothing is sent again');
  gateway.servers.clear();
  assert.equal((await batchFor(t, gateway).registerServer({})).outcome, 'registered');
});

test('server: one that fails after 202 moves to its next address, under its name', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1 });
  const first = await batchFor(t, gateway).registerServer({ url: H });
  assert.deepEqual(outcomes(first), [
    'POST /gateways failed 202',
    'DELETE /gateways deleted 202',
    'POST /gateways created 202',
  ]);
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/sse`);
  const second = await batchFor(t, gateway).registerServer({ url: H });
  assert.deepEqual(outcomes(second), ['GET /gateways exists']);
  assert.equal(recordsOf(gateway).get('mcp_server:pdf-tables@1.0.0')?.length, 1);
});

test('server: streamable HTTP under /mcp, labeled SSE, is detected after 202', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1 });
  assert.equal((await batchFor(t, gateway).registerServer({ url: `${H}/mcp` })).outcome, 'registered');
  assert.equal(onlyServer(gateway), `pdf-tables STREAMABLEHTTP ${H}/mcp`);
  const again = await batchFor(t, gateway).registerServer({ url: `${H}/mcp` });
  assert.deepEqual(outcomes(again), ['GET /gateways exists']);
});

test('server: after 202, each attempt tries all addresses again and leaves one row', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1, servers: { [`${H}/mcp`]: { fault: 'refused' } } });
  for (const _sync of [1, 2, 3]) {
    assert.match(errorOf(await batchFor(t, gateway).registerServer({ url: `${H}/mcp` })), /, then reported/);
    assert.equal(onlyServer(gateway), `pdf-tables STREAMABLEHTTP ${H}/mcp`);
    assert.equal(recordsOf(gateway).get('mcp_server:pdf-tables@1.0.0')?.length, 1, 'deleted rows are forgotten');
  }
  gateway.servers.set(`${H}/mcp`, { transport: 'SSE' });
  assert.equal((await batchFor(t, gateway).registerServer({ url: `${H}/mcp` })).outcome, 'registered');
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/mcp`);
});

test('server: two rows of one server, a broken and a working one, become one', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1 });
  const rows = [
    createRow('pdf-tables', { url: `${H}/messages/`, transport: 'SSE' }, { status: 'pending', lastError: 'refused' }),
    createRow('pdf-tables-1.0.0', { url: `${H}/sse`, transport: 'SSE' }),
  ];
  gateway.table.gateways.push(...rows);
  const items = rows.map(({ id, originalName: name }) => ({ id: String(id), name }));
  const of = { kind: 'gateways', isOurs: true, bodyDigest: null } as const;
  recordsOf(gateway).set(
    'mcp_server:pdf-tables@1.0.0',
    items.map((item) => ({ ...of, ...item })),
  );
  assert.equal((await batchFor(t, gateway).registerServer({ url: H })).outcome, 'registered');
  assert.equal(onlyServer(gateway), `pdf-tables-1.0.0 SSE ${H}/sse`);
});

test('server: a pending row that the gateway is still connecting stays where it is', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 100 });
  for (const _sync of [1, 2]) {
    assert.match(errorOf(await batchFor(t, gateway).registerServer({ url: H })), /has not connected to it yet/);
    assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/messages/`);
  }
  assert.equal(gateway.lines({ withoutLists: true }).length, 1);
});

test('server: a manifest that changes while the gateway connects replaces the pending row', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1, servers: { [`${H}/sse`]: { fault: 'refused' } } });
  await batchFor(t, gateway).registerServer({});
  const changed = await batchFor(t, gateway).registerServer({ url: `${H}/new/sse` });
  assert.deepEqual(outcomes(changed), ['DELETE /gateways deleted 202', 'POST /gateways created 202']);
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/new/sse`);
});

test('server: one whose deletion does not end is not created again', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1, servers: { [`${H}/sse`]: { fault: 'refused' } } });
  await batchFor(t, gateway).registerServer({});
  gateway.onCall(({ method, path }) => {
    const [row] = gateway.table.gateways;
    const body = { ...row?.fields, id: row?.id, name: row?.originalName, status: row?.status };
    if (method === 'GET' && row?.status === 'deleting' && path.endsWith(String(row.id)))
      gateway.surprise(`${method} ${path}`, { status: 200, body });
  });
  for (const _sync of [1, 2]) {
    assert.match(errorOf(await batchFor(t, gateway).registerServer({ url: `${H}/new/sse` })), /has not deleted/);
    assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/sse`);
  }
  gateway.onCall(undefined);
  assert.equal((await batchFor(t, gateway).registerServer({ url: `${H}/new/sse` })).outcome, 'registered');
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/new/sse`);
});

test('server: a row that someone deletes in the gateway does not count as registered', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 2 });
  await batchFor(t, gateway).registerServer({});
  for (const row of gateway.table.gateways) row.status = 'deleting';
  assert.match(errorOf(await batchFor(t, gateway).registerServer({})), /no longer has it/);
  const again = await batchFor(t, gateway).registerServer({});
  assert.deepEqual(outcomes(again), ['POST /gateways created 202']);
  assert.equal(onlyServer(gateway), `pdf-tables SSE ${H}/sse`);
});

test('server: a broken row of another owner stays, and is reported', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1, servers: { [`${H}/mcp`]: { fault: 'refused' } } });
  const fields = { url: `${H}/mcp`, transport: 'SSE' };
  gateway.table.gateways.push(createRow('By hand', fields, { status: 'pending' }));
  assert.match(errorOf(await batchFor(t, gateway).registerServer({ url: `${H}/mcp` })), /, then reported/);

  const batch = batchFor(t, gateway);
  await batch.registerServer({ name: 'first', url: `${H}/first/sse` });
  gateway.table.gateways = [createRow('Behind its back', { ...fields, url: `${H}/2/mcp` }, { status: 'pending' })];
  gateway.servers.set(`${H}/2/mcp`, { fault: 'refused' });
  assert.match(errorOf(await batch.registerServer({ url: `${H}/2/mcp` })), /, then reported/);
  assert.equal(onlyServer(gateway), `Behind its back SSE ${H}/2/mcp`);
});

test('server: a row with HTTP that another owner creates meanwhile is not deleted', async (t) => {
  const gateway = await startFakeGateway(t, { generation: '1.0.3' });
  const batch = batchFor(t, gateway);
  await batch.registerServer({ name: 'first', url: `${H}/first/sse` });
  gateway.table.gateways = [createRow('Behind its back', { url: `${H}/mcp`, transport: 'HTTP' })];
  const registration = await batch.registerServer({ url: `${H}/mcp`, transport: 'HTTP' });
  assert.match(errorOf(registration), /has it as 'Behind its back' with the transport HTTP/);
  assert.equal(onlyServer(gateway), `Behind its back HTTP ${H}/mcp`);
});

test('server: a pending server of the same name, created by another owner meanwhile, is not taken', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1 });
  const batch = batchFor(t, gateway);
  await batch.registerServer({ name: 'first', url: `${H}/first/sse` });
  gateway.table.gateways = [
    createRow('pdf-tables', { url: `${H}/other/sse`, transport: 'SSE' }, { status: 'pending' }),
  ];
  const registration = await batch.registerServer({});
  assert.deepEqual(outcomes(registration), ['POST /gateways failed 409', 'POST /gateways created 202']);
  assert.equal(registration.outcome === 'registered' && registration.name, 'pdf-tables-1.0.0');
  assert.deepEqual(
    recordsOf(gateway)
      .get('mcp_server:pdf-tables@1.0.0')
      ?.map(({ name }) => name),
    ['pdf-tables-1.0.0'],
  );
});

test('server: an owner tries again although another id with the address just failed', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1, servers: { [`${H}/mcp`]: { fault: 'refused' } } });
  await batchFor(t, gateway).registerServer({ url: `${H}/mcp` });
  gateway.servers.set(`${H}/mcp`, { transport: 'SSE' });
  const batch = batchFor(t, gateway);
  assert.equal((await batch.registerServer({ name: 'alias', url: `${H}/mcp` })).outcome, 'failed');
  assert.equal((await batch.registerServer({ url: `${H}/mcp` })).outcome, 'registered');
  assert.equal((await batch.registerServer({ name: 'alias', url: `${H}/mcp` })).outcome, 'registered');
});

for (const method of ['POST', 'PUT'] as const) {
  test(`server: a ${method} that throws frees its name`, async (t) => {
    const gateway = await startFakeGateway(t);
    const { fetch, close } = createFetch({ allowPrivate: true });
    t.after(close);
    let isBroken = true;
    const batch = batchFor(t, gateway, {
      fetch: async (request) => {
        if (isBroken && request.method === method) throw new Error('a bug');
        return fetch(request);
      },
    });
    if (method === 'PUT') await batch.registerServer({ name: 'old', entity: { uid: 'mcp_server:renamed@1.0.0' } });
    const renamed = { name: 'new', entity: { uid: 'mcp_server:renamed@1.0.0' } };
    await assert.rejects(batch.registerServer(renamed), /a bug/);
    isBroken = false;
    const registration = await batch.registerServer(renamed);
    assert.equal(registration.outcome === 'registered' && registration.name, 'new');
  });
}

test('server: errors after 202 are stored without secrets, shortened and without NUL', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 1 });
  gateway.onCall(({ method, path }) => {
    const body = { status: 'pending', lastError: `hunter2-token\u0000 ${'x'.repeat(2_000)}` };
    if (method === 'GET' && /gateways\/./.test(path)) gateway.surprise(`${method} ${path}`, { status: 200, body });
  });
  const server = { auth_type: 'bearer', auth_token: 'hunter2-token' };
  const error = errorOf(await batchFor(t, gateway).registerServer({ server }));
  assert.match(error, /, then reported: … x+\.$/);
  assert.ok(error.length < 1_100);
});

test('server: endless 202 is reported', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 100 });
  const batch = batchFor(t, gateway);
  const error = errorOf(await batch.registerServer({}));
  assert.equal(error, 'The gateway accepted it, but has not connected to it yet. The next attempt checks again.');
  const asked = gateway.calls.length;
  assert.equal(errorOf(await batch.registerServer({ name: 'alias' })), error);
  assert.equal(gateway.calls.length, asked, 'another id with the same address does not wait again');
});

test('server: another id with the same address does not poll again after 202', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 2 });
  const batch = batchFor(t, gateway);
  await batch.registerServer({});
  const asked = gateway.calls.length;
  assert.equal((await batch.registerServer({ name: 'alias' })).outcome, 'registered');
  assert.equal(gateway.calls.length, asked);
});

test('server: one that the gateway drops after 202 is reported at once', async (t) => {
  const gateway = await startFakeGateway(t, { pollsUntilActive: 100 });
  gateway.onCall(({ method, path }) => {
    if (method === 'GET' && /gateways\/./.test(path)) gateway.table.gateways = [];
  });
  const error = errorOf(await batchFor(t, gateway).registerServer({}));
  assert.equal(error, 'The gateway accepted it, but no longer has it.');
});

test('server: one address under many ids is sent once, whether it works or not', async (t) => {
  const gateway = await startFakeGateway(t, { latencyMs: 5 });
  const batch = batchFor(t, gateway);
  const many = (url: string) =>
    Promise.all(Array.from({ length: 8 }, (_, index) => batch.registerServer({ name: `n${index}`, url })));
  const good = await many(`${H}/sse`);
  assert.deepEqual(new Set(good.map(({ outcome }) => outcome)), new Set(['registered']));
  const bad = await many('http://127.0.0.1:6288/sse');
  assert.equal(new Set(bad.map(errorOf)).size, 1);
  assert.deepEqual(gateway.lines({ withoutLists: true }).length, 2);
  assert.equal(bad[7]?.calls[0]?.outcome, 'skipped');
});

test('server: a refused token counts as a gateway error, not as the server’s', async (t) => {
  const gateway = await startFakeGateway(t);
  const registration = await batchFor(t, gateway, { credentials: { jwtSecret: 'wrong' } }).registerServer({});
  assert.equal(registration.outcome, 'gateway_down');
  assert.match(registration.outcome === 'gateway_down' ? registration.error : '', /401: Invalid.*JWT_SECRET_KEY/);
});

test('server: the body is flat and contains only the manifest’s fields', async (t) => {
  const gateway = await startFakeGateway(t);
  const server = {
    name: 'Given name',
    description: 'Reads && writes',
    visibility: 'public',
    exec: { cmd: [] },
    auth_type: null,
  };
  await batchFor(t, gateway).registerServer({ server });
  assert.deepEqual(gateway.calls.at(-1)?.body, {
    name: 'Given name',
    url: `${H}/sse`,
    transport: 'SSE',
    description: 'Reads and writes',
    visibility: 'public',
  });
});

const hopeless = [
  aServer({ url: '', transport: 'STDIO' }),
  aServer({ url: `${H}/{tenant}` }),
  aServer({ url: 'mcp+stdio://thing' }),
  aServer({ entity: { mcpRegistration: null } }),
  aServer({ entity: { mcpRegistration: {} } }),
];
test('server: one that cannot be registered gets an error and no call', async (t) => {
  const gateway = await startFakeGateway(t);
  const { register } = batchFor(t, gateway);
  for (const entity of hopeless) {
    const registration = await register(entity);
    assert.match(errorOf(registration), /^It.*\.$/);
    assert.equal(registration.outcome === 'failed' && registration.isPermanent, true);
  }
  assert.equal(gateway.calls.length, 0);
});

test('server: an address that is not a gateway stops everything, and says what to check', async (t) => {
  const gateway = await startFakeGateway(t);
  for (const path of ['/gateways', '/v1/gateways'])
    gateway.surprise(`GET ${path}`, { status: 404, body: '<html><h1>Not Found</h1></html>' });
  const registration = await batchFor(t, gateway).registerServer({});
  assert.equal(
    registration.outcome === 'gateway_down' && registration.error,
    'The gateway answered 404: Not Found. Check MCP_GATEWAY_URL: this does not look like a gateway.',
  );
});
