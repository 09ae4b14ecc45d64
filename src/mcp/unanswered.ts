// Tracks the requests of a connection that have not been answered yet.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';

export interface Unanswered {
  /** Resolves once all requests are answered. */
  none(): Promise<void>;
}

/** A subscription stays open until the connection closes, so its response is not awaited. */
const SUBSCRIPTION = 'subscriptions/listen';

/** Call it after the server has attached itself to the transport and before the first message arrives. */
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
    if (id !== undefined && method !== undefined && method !== SUBSCRIPTION) open.add(id);
    onmessage?.(message, extra);
    // A canceled request gets no response.
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
