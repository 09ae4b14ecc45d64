// Serializes the requests of each connection, and closes the connections when the listener closes.
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Far more than clients send before they read the first response. */
const MOST_WAITING = 100;
/** A client that reads nothing of a response for this long is dead or hostile. */
const UNREAD_TIMEOUT_MS = 60_000;

/**
 * Node starts all requests of a connection at once and buffers the responses until the client reads them. Here, the next
 * request starts once the previous response has been sent.
 */
export function inTurn(handler: RequestListener, unreadTimeoutMs = UNREAD_TIMEOUT_MS): RequestListener {
  const waiting = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const queue = waiting.get(socket);
    if (queue && queue.length >= MOST_WAITING) return void socket.destroy();
    if (queue) return void queue.push(start);
    waiting.set(socket, []);
    start();

    function start(): void {
      // The timeout of an earlier response must not apply to this request.
      socket.setTimeout(0);
      response.once('close', next);
      endUnread(response, socket, unreadTimeoutMs);
      handler(request, response);
    }

    function next(): void {
      const startNext = socket.destroyed ? undefined : waiting.get(socket)?.shift();
      if (startNext) startNext();
      else waiting.delete(socket);
    }
  };
}

/** Counts only the time in which the client reads nothing. Event streams may be silent for as long as their work takes. */
function endUnread(response: ServerResponse, socket: Socket, timeoutMs: number): void {
  const limit = () => void socket.setTimeout(timeoutMs);
  response.once('prefinish', limit);
  response.once('pipe', () => {
    if (!String(response.getHeader('content-type')).startsWith('text/event-stream')) limit();
  });
}

export interface Connections {
  /** Closes only connections that no running request needs. */
  endIdle(): void;
  endAll(): void;
}

/**
 * Call it before the listener has its first connection. Node itself does not track connections without a request, which
 * browsers open in advance, or those that never finish their TLS handshake.
 */
export function trackConnections(listener: Server): Connections {
  const open = new Set<Socket>();
  const running = new Map<Socket, number>();
  listener.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  listener.on('request', ({ socket }, response) => {
    // A response that is still queued when its connection ends is never closed.
    if (!running.has(socket)) socket.once('close', () => running.delete(socket));
    add(socket, 1);
    response.once('close', () => running.has(socket) && add(socket, -1));
  });
  return { endIdle, endAll };

  function add(socket: Socket, requests: number): void {
    running.set(socket, (running.get(socket) ?? 0) + requests);
  }

  function endIdle(): void {
    if ([...running.values()].every((count) => count === 0)) endAll();
    else listener.closeIdleConnections();
  }

  function endAll(): void {
    for (const socket of open) socket.destroy();
  }
}
