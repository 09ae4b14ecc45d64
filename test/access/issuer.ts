// A small issuer of sign-ins: its configuration, its keys, and tokens signed with them.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

export interface TestIssuer {
  url: string;
  /** Valid for five minutes, for the audience `hub`, unless the claims say otherwise. */
  sign(claims: JWTPayload): Promise<string>;
  /** Answers 500 from now on; only for its keys, if that is said. */
  fail(what?: 'keys'): void;
}

export async function startIssuer(t: TestContext): Promise<TestIssuer> {
  const key = await newKey();
  let failing: 'nothing' | 'keys' | 'everything' = 'nothing';
  const server = createServer((request, response) => {
    if (failing === 'everything' || (failing === 'keys' && request.url === '/keys'))
      return void response.writeHead(500).end();
    const keys = { keys: [key.jwk] };
    const configuration = { issuer: url, jwks_uri: `${url}/keys` };
    response.end(JSON.stringify(request.url === '/keys' ? keys : configuration));
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
    fail(what) {
      failing = what ?? 'everything';
    },
  };
}

async function newKey() {
  const { publicKey, privateKey } = await generateKeyPair('RS256');
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: 'first', alg: 'RS256', use: 'sig' } };
}
