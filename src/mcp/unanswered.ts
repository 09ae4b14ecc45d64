// The requests of a connection that have no answer yet.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';

export interface Unanswered {
  /** Resolves once there are none. */
  none(): Promise<void>;
}

/** Once whoever serves listens to the transport, and before the first message comes. */
export function trackUnanswered(transport: Transport): Unanswered {
  const open = new Set<unknown>();
  let waiting: (() => void)[] = [];
  const { onmessage } = transport;
  const send = transport.send.bind(transport);

  function settle(id: unknown): void {
    open.delete(id);
    if (open.size > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  }

  transport.onmessage = (message, extra) => {
    const { id, method, params } = message as Partial<Record<string, unknown>>;
    if (id !== undefined && method !== undefined) open.add(id);
    onmessage?.(message, extra);
    // What was called off gets no answer.
    if (method === 'notifications/cancelled') settle((params as { requestId?: unknown } | undefined)?.requestId);
  };
  transport.send = async (message: JSONRPCMessage, options) => {
    try {
      await send(message, options);
    } finally {
      if (!('method' in message)) settle(message.id);
    }
  };
  return {
    none: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
  };
}
