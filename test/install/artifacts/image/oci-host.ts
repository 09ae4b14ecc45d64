// A small registry of container images on loopback: the distribution API as far as pulling goes, with tokens.
import { createHash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type IndexServer, startIndexServer } from '../../../support/index-server.ts';

export const TYPES = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
};

export interface Stored {
  digest: string;
  size: number;
  mediaType: string;
}

export interface OciHost {
  host: IndexServer;
  /** `127.0.0.1:port`. */
  authority: string;
  blob(repository: string, content: Buffer | string, mediaType?: string): Stored;
  /** Under its digest, and under a tag when there is one. */
  manifest(repository: string, document: unknown, options?: { tag?: string; mediaType?: string }): Stored;
  /** An image for this machine beside one for another, under a tag. */
  image(
    repository: string,
    tag: string,
    layers: readonly Buffer[],
    firstType?: string,
  ): { index: Stored; own: Stored; layers: Stored[] };
  /** Answers with other bytes than the digest is of. */
  corrupt(repository: string, digest: string, bytes: Buffer): void;
  /** Blobs break off after so many bytes, so many times. */
  breakOff(afterBytes: number, times: number): void;
  /** Every token is good for so many requests. */
  tokenUses(uses: number): void;
}

export const ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

export async function startOciHost(t: TestContext, { needsToken = true } = {}): Promise<OciHost> {
  const host = await startIndexServer(t);
  const tokens = new Map<string, number>();
  let uses = Number.POSITIVE_INFINITY;
  let broken = { afterBytes: 0, times: 0 };
  const { host: authority } = new URL(host.origin);

  function isAllowed(header: string | undefined): boolean {
    if (!needsToken) return true;
    const token = header?.replace('Bearer ', '') ?? '';
    const left = tokens.get(token) ?? 0;
    tokens.set(token, left - 1);
    return left > 0;
  }

  function serve(path: string, repository: string, content: Buffer, mediaType: string, isBlob: boolean): void {
    host.answer(path, (request, response) => {
      if (!isAllowed(request.headers.authorization)) return challenge(response, repository);
      const start = Number(/bytes=(\d+)-/.exec(request.headers.range ?? '')?.[1] ?? 0);
      const rest = content.subarray(start);
      response.writeHead(start > 0 ? 206 : 200, {
        'content-type': mediaType,
        'content-length': rest.length,
        ...(start > 0 ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` } : {}),
      });
      if (!isBlob || broken.times === 0 || rest.length <= broken.afterBytes) return void response.end(rest);
      broken.times -= 1;
      response.write(rest.subarray(0, broken.afterBytes), () => setTimeout(() => response.destroy(), 50));
    });
  }

  function challenge(response: ServerResponse, repository: string): void {
    const realm = `realm="${host.url('/token')}",service="test",scope="repository:${repository}:pull,push"`;
    response.writeHead(401, { 'www-authenticate': `Bearer ${realm}` }).end('{"errors":[]}');
  }

  host.answer('/token', (_request, response) => {
    const token = randomUUID();
    tokens.set(token, uses);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ token }));
  });
  host.answer('/v2/', (_request, response) => void response.writeHead(needsToken ? 401 : 200).end());

  const blob: OciHost['blob'] = (repository, content, mediaType = TYPES.layer) => {
    const bytes = Buffer.from(content);
    const stored = { mediaType, digest: digestOf(bytes), size: bytes.length };
    serve(`/v2/${repository}/blobs/${stored.digest}`, repository, bytes, 'application/octet-stream', true);
    return stored;
  };

  const manifest: OciHost['manifest'] = (repository, document, { tag, mediaType = TYPES.manifest } = {}) => {
    const bytes = Buffer.isBuffer(document) ? document : Buffer.from(JSON.stringify(document));
    const stored = { mediaType, digest: digestOf(bytes), size: bytes.length };
    for (const name of [stored.digest, tag])
      if (name) serve(`/v2/${repository}/manifests/${name}`, repository, bytes, mediaType, false);
    return stored;
  };

  return {
    host,
    authority,
    blob,
    manifest,
    image(repository, tag, contents, firstType = TYPES.layer) {
      const config = blob(
        repository,
        JSON.stringify({
          architecture: ARCHITECTURE,
          os: 'linux',
          config: {},
          rootfs: { type: 'layers', diff_ids: [] },
        }),
        TYPES.config,
      );
      const layers = contents.map((content, at) => blob(repository, content, at === 0 ? firstType : TYPES.layer));
      const own = manifest(repository, { schemaVersion: 2, mediaType: TYPES.manifest, config, layers });
      const other = manifest(repository, { schemaVersion: 2, mediaType: TYPES.manifest, config, layers: [] });
      const manifests = [
        { ...other, platform: { os: 'linux', architecture: 's390x' } },
        { ...own, platform: { os: 'linux', architecture: ARCHITECTURE } },
      ];
      const index = manifest(
        repository,
        { schemaVersion: 2, mediaType: TYPES.index, manifests },
        { tag, mediaType: TYPES.index },
      );
      return { index, own, layers };
    },
    corrupt: (repository, digest, bytes) =>
      serve(`/v2/${repository}/blobs/${digest}`, repository, bytes, 'application/octet-stream', true),
    breakOff: (afterBytes, times) => {
      broken = { afterBytes, times };
    },
    tokenUses: (allowed) => {
      uses = allowed;
    },
  };
}

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
