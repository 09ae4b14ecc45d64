// All contact with the outside world, as types: tests replace only these.
import type { Metrics } from './metrics.ts';

export type Clock = () => Date;

export interface FetchRequest {
  /** Default: GET; only GETs follow redirects. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: string;
  url: string;
  headers?: Record<string, string>;
  /** Prefix of URLs that may receive credential headers after a redirect; by default, all URLs of the same host. */
  credentialScope?: string;
  /** Maximum body size, before and after decompression. */
  maxBytes: number;
  /** Truncates a longer body instead of failing. The body is returned as received, even if it is compressed. */
  cutsLongBody?: boolean;
  /** From the first connection to the last byte, including redirects. */
  timeoutMs: number;
  /**
   * For large bodies: `timeoutMs` then applies only until the response begins; after that, the exchange fails when no data
   * arrives for this long.
   */
  idleTimeoutMs?: number;
  signal?: AbortSignal;
}

export interface FetchReply {
  /** The final URL, after redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Checks every connection; any status is a reply. @throws FetchError */
export type Fetch = (request: FetchRequest) => Promise<FetchReply>;

export interface DownloadRequest {
  url: string;
  headers?: Record<string, string>;
  /** Absolute path; overwritten, and not deleted when the download fails. */
  file: string;
  maxBytes: number;
  /** For the whole download; a connection that is silent for 30 s also fails. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface DownloadReply {
  url: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  bytes: number;
  /** The sha256 of the written file, in lower-case hex. */
  sha256: string;
}

/** Like `Fetch`, for large bodies: writes to a file. Any status is a reply; only a 2xx body is written. @throws FetchError */
export type Download = (request: DownloadRequest) => Promise<DownloadReply>;

/**
 * Checks whether a program that makes its own connections may use this URL. Returns the addresses of its host, so that the
 * program can be restricted to them, or none if the operator's proxy resolves names. @throws FetchError when it may not.
 */
export type VetAddress = (url: string) => Promise<readonly string[]>;

export interface RunRequest {
  program: string;
  args: readonly string[];
  cwd: string;
  /** In addition to PATH, HOME, the locale, proxies and container engine locations; no other variable of the hub is passed on. */
  env?: Record<string, string>;
  /** Names of further variables that are passed on from the hub's environment. */
  inherit?: readonly string[];
  /** Whether it may connect only where the hub itself may, including redirects. */
  isGuarded?: boolean;
  timeoutMs: number;
  /** Keeps all output up to this size and stops the program if it writes more; by default keeps the end, of at most 64 MiB. */
  mostOutputBytes?: number;
  signal?: AbortSignal;
}

interface RunResult {
  exitCode: number;
  /** Only the end, if the output was long and no limit was set. */
  stdout: string;
  stderr: string;
}

/** Runs a program without a shell; stopping it stops its children. Any exit code is a result. @throws RunError if it fails to start or finish in time. */
export type Run = (request: RunRequest) => Promise<RunResult>;

type LogEvent = (fields: object, message: string) => void;

/** One event per operation: fields for programs, and a self-contained message. */
export interface Logger {
  debug: LogEvent;
  info: LogEvent;
  warn: LogEvent;
  error: LogEvent;
}

export interface World {
  now: Clock;
  /** For URLs from external sources. */
  fetch: Fetch;
  /** For URLs set by the operator, which may be private. */
  fetchTrusted: Fetch;
  download: Download;
  vetAddress: VetAddress;
  run: Run;
  log: Logger;
  metrics: Metrics;
}
