// Replies, redirects and time limits. Other files test which addresses are fetched, and how much of them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SOON } from '../../support/in-time.ts';
import { startIndexServer } from '../../support/servers/index-server.ts';
import { failure, fetcher } from './test-fetch.ts';

test('fetch: any status is a reply, with its headers and its body', async (t) => {
  const host = await startIndexServer(t);
  const fetch = fetcher(t);
  host.put('/a', 'some text', { type: 'text/plain' });
  const { status, url, headers, body } = await fetch(host.url('/a?q=1'));
  assert.deepEqual(
    [status, url, headers['content-type'], body.toString()],
    [200, host.url('/a?q=1'), 'text/plain', 'some text'],
  );
  for (const code of [201, 204, 304, 400, 404, 410, 500, 503]) {
    host.answer('/b', (_request, response) => void response.writeHead(code, { 'x-some': 'thing' }).end());
    const reply = await fetch(host.url('/b'));
    assert.deepEqual([reply.status, reply.headers['x-some'], reply.body.length], [code, 'thing', 0]);
  }
});

test('fetch: sends the caller’s headers and its own user agent', async (t) => {
  const host = await startIndexServer(t);
  host.put('/a', 'x');
  await fetcher(t)(host.url('/a'), { headers: { 'if-none-match': '"7"' } });
  const [seen] = host.seen('/a');
  assert.equal(seen?.headers['if-none-match'], '"7"');
  assert.equal(seen?.headers['user-agent'], 'catalog-hub');
  assert.equal(seen?.headers['accept-encoding'], 'br, gzip');
});

test('fetch: sends user and password of the address, with special characters, as the host expects', async (t) => {
  const host = await startIndexServer(t);
  host.put('/a', 'x');
  const { port } = new URL(host.origin);
  await fetcher(t)(`http://me%40home:p%25w@127.0.0.1:${port}/a`);
  await fetcher(t)(`http://me%:pw@127.0.0.1:${port}/a`);
  const sent = host.seen('/a').map(({ headers }) => headers.authorization?.replace('Basic ', '') ?? '');
  assert.deepEqual(
    sent.map((text) => Buffer.from(text, 'base64').toString()),
    ['me@home:p%w', 'me%:pw'],
  );
});

const NO_ADDRESSES = ['', 'nonsense', '/only/a/path', 'http://', 'http://[::1', 'http://a b/', 'http://a:99999/'];
for (const address of NO_ADDRESSES) {
  test(`fetch: '${address}' is not an address`, async (t) => {
    const error = await failure(fetcher(t)(address));
    assert.equal(error.message, 'is not a readable address');
    assert.equal(error.isTemporary, false);
  });
}

for (const address of [
  'file:///etc/passwd',
  'ftp://a.example/x',
  'data:text/plain,x',
  'javascript:1',
  'mailto:a@b.c',
]) {
  test(`fetch: ${address} is not fetched`, async (t) => {
    const error = await failure(fetcher(t)(address));
    assert.match(error.message, /only http and https are supported/);
    assert.equal(error.isTemporary, false);
  });
}

test('fetch: follows redirects, also relative ones, and the reply has the final address', async (t) => {
  const host = await startIndexServer(t);
  host.put('/c/d', 'found');
  host.redirect('/a', '/b', 301);
  host.redirect('/b', 'c/d?e=1', 307);
  const { url, body } = await fetcher(t)(host.url('/a'));
  assert.deepEqual([url, body.toString()], [host.url('/c/d?e=1'), 'found']);
});

test('fetch: five redirects are followed, not more', async (t) => {
  const host = await startIndexServer(t);
  for (let hop = 1; hop <= 9; hop += 1) host.redirect(`/${hop}`, `/${hop - 1}`);
  host.put('/0', 'found');
  assert.equal((await fetcher(t)(host.url('/5'))).body.toString(), 'found');
  const error = await failure(fetcher(t)(host.url('/6')));
  assert.match(error.message, /redirected more than 5 times/);
  assert.equal(error.isTemporary, false);
});

test('fetch: a redirect to itself and a redirect loop end', async (t) => {
  const host = await startIndexServer(t);
  host.redirect('/self', '/self');
  host.redirect('/a', '/b');
  host.redirect('/b', '/a');
  for (const path of ['/self', '/a']) {
    assert.match((await failure(fetcher(t)(host.url(path)))).message, /redirected more than 5 times/);
  }
  assert.equal(host.seen('/self').length, 6);
});

test('fetch: checks every redirect: scheme, metadata service, address', async (t) => {
  const host = await startIndexServer(t);
  const targets = {
    'file:///etc/passwd': /only http and https/,
    'http://169.254.169.254/latest/meta-data/': /never connected to/,
    'http://[fd00:ec2::254]/': /metadata/,
    'http://0.0.0.0/': /never connected to/,
    'http://[': /not an address/,
  };
  for (const [location, expected] of Object.entries(targets)) {
    host.redirect('/a', location);
    assert.match((await failure(fetcher(t)(host.url('/a')))).message, expected);
  }
});

test('fetch: conditions follow a redirect to another host, credentials do not', async (t) => {
  const [first, second] = [await startIndexServer(t), await startIndexServer(t)];
  second.put('/b', 'x');
  first.redirect('/a', second.url('/b'));
  const headers = { Authorization: 'Bearer s3cret', cookie: 'a=b', 'if-none-match': '"1"' };
  await fetcher(t)(first.url('/a'), { headers });
  assert.equal(first.seen('/a')[0]?.headers.authorization, 'Bearer s3cret');
  const received = second.seen('/b')[0]?.headers ?? {};
  assert.deepEqual([received.authorization, received.cookie, received['if-none-match']], [undefined, undefined, '"1"']);
});

test('fetch: a redirect without a location is a reply, and only GETs follow redirects', async (t) => {
  const host = await startIndexServer(t);
  host.answer('/a', (_request, response) => void response.writeHead(302).end());
  host.redirect('/b', '/c', 303);
  assert.equal((await fetcher(t)(host.url('/a'))).status, 302);
  assert.equal((await fetcher(t)(host.url('/b'), { method: 'POST', body: '{}' })).status, 303);
  assert.equal(host.seen('/c').length, 0);
});

test('fetch: slow headers and a slow body hit the time limit', SOON, async (t) => {
  const host = await startIndexServer(t);
  host.answer('/silent', () => {});
  host.answer('/drip', (_request, response) => {
    const timer = setInterval(() => response.write('.'), 20);
    response.once('close', () => clearInterval(timer));
  });
  for (const path of ['/silent', '/drip']) {
    const error = await failure(fetcher(t)(host.url(path), { timeoutMs: 150 }));
    assert.equal(error.message, 'did not answer within 0.15 s');
    assert.deepEqual([error.isTemporary, error.isTimeout], [true, true]);
  }
});

test('fetch: with an idle limit, a body may take as long as it keeps arriving', async (t) => {
  const host = await startIndexServer(t);
  host.answer('/drip', (_request, response) => {
    let left = 30;
    const timer = setInterval(() => {
      response.write('.');
      left -= 1;
      if (left === 0) response.end();
    }, 60);
    response.once('close', () => clearInterval(timer));
  });
  host.answer('/stops', (_request, response) => void response.write('half'));
  host.answer('/silent', () => {});
  const limits = { timeoutMs: 1_500, idleTimeoutMs: 1_500 };
  assert.equal((await fetcher(t)(host.url('/drip'), limits)).body.toString(), '.'.repeat(30));
  const stops = await failure(fetcher(t)(host.url('/stops'), limits));
  assert.equal(stops.message, 'stopped in the middle and sent nothing for 1.5 s');
  assert.deepEqual([stops.isTemporary, stops.isTimeout], [true, true]);
  const silent = await failure(fetcher(t)(host.url('/silent'), limits));
  assert.equal(silent.message, 'did not answer within 1.5 s');
});

test('fetch: the limit covers all redirects together', async (t) => {
  const host = await startIndexServer(t);
  host.redirect('/a', '/b');
  host.redirect('/b', '/c');
  host.put('/c', 'c');
  host.delay(() => 300);
  const error = await failure(fetcher(t)(host.url('/a'), { timeoutMs: 500 }));
  assert.equal(error.message, 'did not answer within 0.5 s');
});

test('fetch: the limit includes the wait for a connection', async (t) => {
  const host = await startIndexServer(t);
  host.answer('/silent', () => {});
  const fetch = fetcher(t);
  const stop = new AbortController();
  const busy = Array.from({ length: 64 }, () => failure(fetch(host.url('/silent'), { signal: stop.signal })));
  const error = await failure(fetch(host.url('/silent'), { timeoutMs: 150 }));
  assert.match(error.message, /did not answer within 0.15 s/);
  stop.abort();
  await Promise.all(busy);
});

test('fetch: a connection that breaks midway is a temporary failure', async (t) => {
  const host = await startIndexServer(t);
  host.answer('/lengthy', (_request, response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('half');
    setTimeout(() => response.destroy(), 10);
  });
  host.answer('/chunked', (_request, response) => {
    response.write('half');
    setTimeout(() => response.destroy(), 10);
  });
  host.answer('/nothing', (_request, response) => void response.destroy());
  for (const path of ['/lengthy', '/chunked', '/nothing']) {
    const error = await failure(fetcher(t)(host.url(path)));
    assert.match(error.message, /closed the connection|could not be reached/);
    assert.equal(error.isTemporary, true);
  }
});

test('fetch: an answer that is not HTTP is an error', async (t) => {
  const url = await serveRaw(t, 'SSH-2.0-OpenSSH_9.6\r\n');
  assert.match((await failure(fetcher(t)(url))).message, /could not be reached/);
  const long = await serveRaw(t, `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`);
  assert.match((await failure(fetcher(t)(long))).message, /could not be reached/);
});

test('fetch: a stop takes effect at once, before or during the request', async (t) => {
  const host = await startIndexServer(t);
  host.answer('/silent', () => {});
  assert.equal(
    (await failure(fetcher(t)(host.url('/silent'), { signal: AbortSignal.abort() }))).message,
    'was stopped',
  );
  assert.equal(host.requests.length, 0);
  const error = await failure(fetcher(t)(host.url('/silent'), { signal: AbortSignal.timeout(50) }));
  assert.deepEqual([error.message, error.isTemporary], ['was stopped', false]);
});

test('fetch: an invalid header is an error', async (t) => {
  const host = await startIndexServer(t);
  const error = await failure(fetcher(t)(host.url('/a'), { headers: { 'if-none-match': '"\u4e2d"' } }));
  assert.match(error.message, /could not be reached/);
});

/** A server that gives the same answer to everything. */
async function serveRaw(t: TestContext, text: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}
