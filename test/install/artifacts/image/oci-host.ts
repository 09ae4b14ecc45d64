// A small registry of container images on loopback: manifests by tag and digest, with tokens.
import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type IndexServer, startIndexServer } from '../../../support/servers/index-server.ts';

const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';

export interface OciHost {
  host: IndexServer;
  /** `127.0.0.1:port`. */
  authority: string;
  /** Stores a manifest under its digest and a tag, and returns the digest. */
  manifest(repository: string, tag: string, document?: unknown): string;
}

/** With `login` (`user:password`), only its owner gets tokens. */
export async function startOciHost(
  t: TestContext,
  { needsToken = true, login }: { needsToken?: boolean; login?: string } = {},
): Promise<OciHost> {
  const host = await startIndexServer(t);
  const tokens = new Set<string>();
  const { host: authority } = new URL(host.origin);

  function isAllowed({ headers }: IncomingMessage): boolean {
    return !needsToken || tokens.has(headers.authorization?.replace('Bearer ', '') ?? '');
  }

  function challenge(response: ServerResponse, repository: string): void {
    const realm = `realm="${host.url('/token')}",service="test",scope="repository:${repository}:pull,push"`;
    response.writeHead(401, { 'www-authenticate': `Bearer ${realm}` }).end('{"errors":[]}');
  }

  host.answer('/token', ({ headers }, response) => {
    const wanted = login && `Basic ${Buffer.from(login).toString('base64')}`;
    if (wanted && headers.authorization !== wanted) return void response.writeHead(401).end();
    const token = randomUUID();
    tokens.add(token);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token }));
  });
  host.answer('/v2/', (_request, response) => void response.writeHead(needsToken ? 401 : 200).end());

  return {
    host,
    authority,
    manifest(repository, tag, document = { schemaVersion: 2, mediaType: INDEX_TYPE, manifests: [], tag }) {
      const bytes = Buffer.isBuffer(document) ? document : Buffer.from(JSON.stringify(document));
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
      for (const name of [digest, tag])
        host.answer(`/v2/${repository}/manifests/${name}`, (request, response) => {
          if (!isAllowed(request)) return challenge(response, repository);
          response.writeHead(200, { 'content-type': INDEX_TYPE, 'docker-content-digest': digest }).end(bytes);
        });
      return digest;
    },
  };
}
