// A small token issuer: its configuration, its keys, and tokens signed with them.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

type Fault = 'nothing' | 'configuration' | 'keys' | 'broken keys';

export interface TestIssuer {
  url: string;
  /** Valid for five minutes, for the audience `hub`, unless the claims say otherwise. */
  sign(claims: JWTPayload): Promise<string>;
  /** The fault in its responses from now on. */
  fail(fault: Fault): void;
  /** Replaces its key. */
  rotate(): Promise<void>;
  /** The number of requests so far. */
  requests(): number;
}

export async function startIssuer(t: TestContext): Promise<TestIssuer> {
  let key = await newKey('first');
  let failing: Fault = 'nothing';
  let requests = 0;
  const server = createServer(({ url: path }, response) => {
    requests += 1;
    if (failing === (path === '/keys' ? 'keys' : 'configuration')) return void response.writeHead(500).end();
    if (path !== '/keys') return void response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }));
    response.end(failing === 'broken keys' ? '<html>' : JSON.stringify({ keys: [key.jwk] }));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    sign: (claims) =>
      new SignJWT({ iss: url, aud: 'hub', sub: 'somebody', exp: Math.floor(Date.now() / 1000) + 300, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: key.jwk.kid })
        .sign(key.privateKey),
    fail(fault) {
      failing = fault;
    },
    async rotate() {
      key = await newKey('second');
    },
    requests: () => requests,
  };
}

async function newKey(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'RS256', use: 'sig' } };
}
