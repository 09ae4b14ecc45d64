// Guarded downloads: write to a file instead of memory, within limits, and compute digests on the way.
import { createHash } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { createWriteStream } from 'node:fs';
import { isIP } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Download, DownloadReply, DownloadRequest, VetAddress } from '../world.ts';
import { withoutBrackets } from './address.ts';
import { followRedirects } from './fetch.ts';
import { FetchError, networkError, tooLarge } from './fetch-error.ts';
import { type GuardedAgent, guardedAgent } from './guarded-agent.ts';
import { addressFault, type NetworkRule } from './network-rule.ts';
import { noProxy, type ProxyFor } from './proxies.ts';
import { ownHeaders, plainHeaders } from './send-once.ts';

/** A host that sends nothing for this long is given up. */
const STALL_MS = 30_000;
const DUMPED_BYTES = 65_536;
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'];

export interface GuardedDownload {
  download: Download;
  vetAddress: VetAddress;
  close(): Promise<void>;
}

interface DownloadOptions {
  stallMs?: number;
  proxyFor?: ProxyFor;
}

export function createDownload(
  rule: NetworkRule,
  { stallMs = STALL_MS, proxyFor = noProxy }: DownloadOptions = {},
): GuardedDownload {
  const agent = guardedAgent(rule, proxyFor);

  async function download(request: DownloadRequest): Promise<DownloadReply> {
    const limits = startLimits(request, stallMs);
    try {
      return await followRedirects(request, (url, hop) => transfer(agent, url, hop, limits));
    } catch (error) {
      throw limits.reason() ?? error;
    } finally {
      limits.end();
    }
  }

  return { download, vetAddress: (url) => vetAddress(url, rule, proxyFor), close: () => agent.close() };
}

/** For programs that make their own connections: they may use any address of a name, so all of them must be allowed. */
async function vetAddress(address: string, rule: NetworkRule, proxyFor: ProxyFor): Promise<readonly string[]> {
  const url = URL.parse(address);
  const hostname = withoutBrackets(url?.hostname ?? '');
  if (!url || hostname === '') throw new FetchError('is not a readable address', { isTemporary: false });
  // The proxy resolves the name; this machine may not even be able to.
  if (!isIP(hostname) && proxyFor(url) !== undefined) return [];
  const addresses = isIP(hostname) ? [hostname] : await addressesOf(hostname);
  for (const found of addresses) {
    const fault = addressFault(found, rule);
    if (fault) throw new FetchError(`${hostname} ${fault}`, { isTemporary: false });
  }
  return addresses;
}

async function addressesOf(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true }).catch((error: Error) => {
    throw networkError(error);
  });
  return found.map(({ address }) => address);
}

interface Limits {
  signal: AbortSignal;
  /** Call it whenever data arrives. */
  heard(): void;
  reason(): FetchError | undefined;
  end(): void;
}

function startLimits({ timeoutMs, signal }: DownloadRequest, stallMs: number): Limits {
  const controller = new AbortController();
  let reason: FetchError | undefined;
  const stop = (error: FetchError) => {
    reason ??= error;
    controller.abort(reason);
  };
  const late = (ms: number, what: string) =>
    new FetchError(`${what} ${ms / 1000} s`, { isTemporary: true, isTimeout: true });
  const whole = setTimeout(() => stop(late(timeoutMs, 'was not complete within')), timeoutMs);
  const stall = setTimeout(() => stop(late(stallMs, 'sent nothing for')), stallMs);
  const onAbort = () => stop(new FetchError('was stopped', { isTemporary: false }));
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    heard: () => void stall.refresh(),
    reason: () => reason,
    end() {
      clearTimeout(whole);
      clearTimeout(stall);
      signal?.removeEventListener('abort', onAbort);
    },
  };
}

/** Sends one request, without following redirects. */
async function transfer(
  agent: GuardedAgent,
  url: URL,
  request: DownloadRequest,
  limits: Limits,
): Promise<DownloadReply> {
  const { statusCode, headers, body } = await agent
    .use(url, (sender) =>
      sender.request({
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: 'GET',
        // Content that is verified by digest must arrive unencoded.
        headers: { 'accept-encoding': 'identity', ...ownHeaders(url), ...request.headers },
        signal: limits.signal,
      }),
    )
    .catch((error: Error) => {
      throw networkError(error);
    });
  limits.heard();
  const replyHeaders = plainHeaders(headers);
  if (statusCode < 200 || statusCode > 299) {
    // The body of a redirect or an error must not end up in the file.
    await body.dump({ limit: DUMPED_BYTES }).catch(() => {});
    return { url: url.href, status: statusCode, headers: replyHeaders, ...createMeter(0, limits).result() };
  }
  const meter = createMeter(request.maxBytes, limits);
  try {
    if (Number(replyHeaders['content-length'] ?? 0) > request.maxBytes) throw tooLarge(request.maxBytes);
    await pipeline(body, meter.stream, createWriteStream(request.file));
  } catch (error) {
    body.on('error', () => {}).destroy();
    throw isFileError(error) ? error : networkError(error as Error);
  }
  return { url: url.href, status: statusCode, headers: replyHeaders, ...meter.result() };
}

/** Counts and hashes the bytes that pass through. */
function createMeter(maxBytes: number, limits: Limits) {
  const sha256 = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      limits.heard();
      bytes += chunk.length;
      sha256.update(chunk);
      if (bytes <= maxBytes) done(null, chunk);
      else done(tooLarge(maxBytes));
    },
  });
  return { stream, result: () => ({ bytes, sha256: sha256.digest('hex') }) };
}

/** A full disk is not the host's fault. */
function isFileError(error: unknown): boolean {
  const { code = '', path } = error as NodeJS.ErrnoException;
  return path !== undefined || FULL.includes(code);
}
