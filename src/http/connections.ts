// The open connections of a listener, for ending them when it is closed.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface Connections {
  /** Leaves alone what a running request may still need. */
  endIdle(): void;
  endAll(): void;
}

/**
 * To be called before the listener has its first connection. Node itself overlooks those on which nothing was asked
 * yet, as browsers open them in advance, and those that never come to the end of their TLS greeting.
 */
export function trackConnections(listener: Server): Connections {
  const open = new Set<Socket>();
  let running = 0;
  listener.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  listener.on('request', (_request, response) => {
    running += 1;
    response.once('close', () => {
      running -= 1;
    });
  });
  return { endIdle, endAll };

  function endIdle(): void {
    if (running === 0) endAll();
    else listener.closeIdleConnections();
  }

  function endAll(): void {
    for (const socket of open) socket.destroy();
  }
}
