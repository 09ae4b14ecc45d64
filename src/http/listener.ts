// The HTTP(S) server below the app: limits that apply before routing, and responses to malformed requests.
import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { type ErrorCode, HubError } from '../errors.ts';
import { inTurn } from './connections.ts';
import { PROBLEM_TYPE, PROBLEMS, problemBody } from './problem.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

export const LARGEST_HEADERS_BYTES = 16_384;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** Both in PEM format. */
export interface TlsIdentity {
  cert: Buffer;
  key: Buffer;
}

export interface ListenerOptions {
  tls: TlsIdentity | undefined;
  requestTimeoutSec: number;
}

export function createListener(respond: RequestListener, { tls, requestTimeoutSec }: ListenerOptions): Server {
  const handler = inTurn(respond);
  const options = {
    maxHeaderSize: LARGEST_HEADERS_BYTES,
    headersTimeout: Math.min(HEADERS_TIMEOUT_MS, requestTimeoutSec * 1000),
    requestTimeout: requestTimeoutSec * 1000,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // How often Node checks for late requests.
    connectionsCheckingInterval: Math.min(5_000, requestTimeoutSec * 500),
    // The app refuses requests without one, with the same kind of problem as elsewhere.
    requireHostHeader: false,
  };
  const server = tls ? createHttpsServer({ ...options, ...tls }, handler) : createHttpServer(options, handler);
  // Node's own response to these has no body.
  server.on('checkExpectation', handler);
  server.on('connect', (_request, socket: Socket) => {
    answer(socket, new HubError('method_not_allowed', 'The hub is not a proxy.'), randomUUID());
  });
  return server;
}

/** Handles errors of Node's parser, which occur before any route or hook. */
export function answerBrokenRequest(error: ParserError, socket: Socket, report: BrokenRequestListener): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const problem = brokenRequest(error);
  const requestId = randomUUID();
  report({ requestId, code: problem.code, status: PROBLEMS[problem.code].status });
  answer(socket, problem, requestId);
}

export type BrokenRequestListener = (broken: { requestId: string; code: ErrorCode; status: number }) => void;

const HEADERS = Object.entries(SECURITY_HEADERS)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('');

function answer(socket: Socket, problem: HubError, requestId: string): void {
  const { status, title } = PROBLEMS[problem.code];
  const body = JSON.stringify(problemBody(problem, requestId));
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: ${PROBLEM_TYPE}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
      `X-Request-Id: ${requestId}\r\n${HEADERS}Connection: close\r\n\r\n${body}`,
  );
}

interface ParserError extends NodeJS.ErrnoException {
  /** The data that was being parsed, a Buffer. */
  rawPacket?: unknown;
}

function brokenRequest({ code, rawPacket }: ParserError): HubError {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new HubError('request_timeout', 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      if (isAllAddress(rawPacket))
        return new HubError('uri_too_long', `The address must not exceed ${LARGEST_HEADERS_BYTES} bytes.`);
      return new HubError(
        'headers_too_large',
        `The address and the headers together must not exceed ${LARGEST_HEADERS_BYTES} bytes.`,
      );
    default:
      return new HubError('invalid_request', 'This is not a readable HTTP request.');
  }
}

/** Whether the packet starts with a request whose first line alone exceeds the limit. */
function isAllAddress(packet: unknown): boolean {
  return Buffer.isBuffer(packet) && /^[A-Z]+ \S+$/.test(packet.toString('latin1', 0, LARGEST_HEADERS_BYTES));
}
