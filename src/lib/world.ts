// All contact with the outside, as types: tests replace these and nothing else.
import type { Metrics } from './metrics.ts';

export type Clock = () => Date;

export interface FetchRequest {
  /** GET when none is named; only GETs follow redirects. */
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  body?: string;
  url: string;
  headers?: Record<string, string>;
  /** How addresses begin that may get credentials among the headers after a redirect; without it, all of the same host. */
  credentialScope?: string;
  /** Largest body that is read, before and after decompression. */
  maxBytes: number;
  /** A longer body is cut there rather than refused. It is given as it came, also when it is compressed. */
  cutsLongBody?: boolean;
  /** Redirects included, from the first connection to the last byte. */
  timeoutMs: number;
  /**
   * For large bodies: `timeoutMs` then ends when the answer begins, and from there on only a silence of this length ends
   * the exchange.
   */
  idleTimeoutMs?: number;
  signal?: AbortSignal;
}

export interface FetchReply {
  /** Where it came from in the end, after redirects. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  body: Buffer;
}

/** Every connection is checked; any status is a reply. @throws FetchError */
export type Fetch = (request: FetchRequest) => Promise<FetchReply>;

export interface DownloadRequest {
  url: string;
  headers?: Record<string, string>;
  /** Absolute path; written from its beginning, and left to the caller also when the download fails. */
  file: string;
  /** Asks only for what the file lacks; a host that cannot give a part gives all of it. */
  resume?: boolean;
  maxBytes: number;
  /** For the whole of it; a connection that is silent for 30 s ends it too. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface DownloadReply {
  url: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  bytes: number;
  /** The sha256 of what was written, in lower-case hex. */
  sha256: string;
}

/** Like `Fetch`, for what may be large: the body goes to a file, never into memory. Any status is a reply; only the body of a 2xx is written. @throws FetchError */
export type Download = (request: DownloadRequest) => Promise<DownloadReply>;

/**
 * Whether a program that makes its own connections may be sent to this address; returns the addresses of its host, so
 * that the program can be held to them, or none when the operator's proxy looks them up. @throws FetchError when it may not.
 */
export type VetAddress = (url: string) => Promise<readonly string[]>;

export interface RunRequest {
  program: string;
  args: readonly string[];
  cwd: string;
  /** Beside PATH, HOME, the locale, the proxies and where container engines are: nothing else of the hub's own environment is passed on. */
  env?: Record<string, string>;
  /** Names of further variables of the hub's own environment that it gets. */
  inherit?: readonly string[];
  /** Whether its connections lead only where the hub itself may go, redirects included. */
  isGuarded?: boolean;
  timeoutMs: number;
  /** All of its output is kept up to here, and it is stopped when it writes more; without it, the end is kept, of 64 MiB at most. */
  mostOutputBytes?: number;
  signal?: AbortSignal;
}

interface RunResult {
  exitCode: number;
  /** The end of it, when it was long and no limit was named. */
  stdout: string;
  stderr: string;
}

/** Starts a program without a shell; when it is stopped, its children go with it. Any exit code is a result. @throws RunError when it cannot be started or takes too long. */
export type Run = (request: RunRequest) => Promise<RunResult>;

type LogEvent = (fields: object, message: string) => void;

/** One event per operation: fields for programs, a message that reads alone. */
export interface Logger {
  debug: LogEvent;
  info: LogEvent;
  warn: LogEvent;
  error: LogEvent;
}

export interface World {
  now: Clock;
  /** For addresses that come from outside. */
  fetch: Fetch;
  /** For addresses that the operator named: those may be private. */
  fetchTrusted: Fetch;
  download: Download;
  vetAddress: VetAddress;
  run: Run;
  log: Logger;
  metrics: Metrics;
}
