// Sends requests to a hub and reads the responses: JSON, text, or an event stream.
import type { z } from 'zod';
import { UnreachableError } from '../errors.ts';
import { checkedAnswer } from './answer-check.ts';
import { readEvents, type ServerEvent } from './event-stream.ts';
import { createExchange, type HubClientOptions, type HubRequest, type HubResponse } from './exchange.ts';
import { type ProblemDocument, RefusedError } from './hub-errors.ts';

export interface Conversation {
  readonly url: string;
  /** Like all methods, @throws RefusedError, UnreachableError. */
  ask<T>(request: HubRequest, shape: z.ZodType<T>, isAnswer?: (response: Response) => boolean): Promise<T>;
  /** Returns the JSON text exactly as sent. */
  askJsonText(request: HubRequest, shape: z.ZodType): Promise<{ text: string; headers: Headers }>;
  /** Always requests a stream, even without a listener, because proxies close idle connections. */
  follow<T, P>(request: HubRequest, shape: z.ZodType<T>, onProgress: ((progress: P) => void) | undefined): Promise<T>;
}

const EVENTS = 'text/event-stream';

/** @throws TypeError if the address or the token is malformed. */
export function createConversation(options: HubClientOptions): Conversation {
  const { url, send } = createExchange(options);

  async function textOf(request: HubRequest, isAnswer?: (response: Response) => boolean) {
    const answer = await send(request, isAnswer);
    return { text: await wholeText(answer), headers: answer.response.headers };
  }

  function readJson<T>(text: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw new UnreachableError(url, 'returned something that is not JSON (is this the right address?)', {
        cause: error,
      });
    }
  }

  return {
    url,
    ask: async <T>(request: HubRequest, shape: z.ZodType<T>, isAnswer?: (response: Response) => boolean) =>
      checkedAnswer(readJson((await textOf(request, isAnswer)).text), shape, url),
    async askJsonText(request, shape) {
      const answer = await textOf(request);
      checkedAnswer(readJson(answer.text), shape, url);
      return answer;
    },
    async follow<T, P>(request: HubRequest, shape: z.ZodType<T>, onProgress: ((progress: P) => void) | undefined) {
      const answer = await send({ ...request, accept: EVENTS });
      if (!isEventStream(answer.response)) return checkedAnswer(readJson(await wholeText(answer)), shape, url);
      for await (const { event, data } of eventsOf(answer)) {
        if (event === 'result') return checkedAnswer(readJson(data), shape, url);
        if (event === 'error') throw new RefusedError(readJson<ProblemDocument | null>(data) ?? {}, answer.response);
        if (event === 'progress') onProgress?.(readJson<P>(data));
      }
      throw new UnreachableError(
        url,
        'closed the connection before it sent the result; check on the hub whether the work was completed',
      );
    },
  };
}

async function wholeText({ response, end, fault }: HubResponse): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw fault(error);
  } finally {
    end();
  }
}

/** Errors here are connection errors. An error of the listener is passed on unchanged, and closes the connection. */
async function* eventsOf({ response, touch, end, fault }: HubResponse): AsyncGenerator<ServerEvent> {
  try {
    yield* readEvents(touched(response.body ?? [], touch));
  } catch (error) {
    throw fault(error);
  } finally {
    end();
  }
}

function isEventStream({ headers }: Response): boolean {
  return (headers.get('content-type') ?? '').startsWith(EVENTS);
}

async function* touched(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, touch: () => void) {
  for await (const chunk of chunks) {
    touch();
    yield chunk;
  }
}
