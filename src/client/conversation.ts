// Questions to a hub and their answers, read: as JSON, as text, or as a stream of what is going on.
import { HubError } from '../errors.ts';
import { readEvents } from './event-stream.ts';
import { createExchange, type HubClientOptions, type HubRequest } from './exchange.ts';
import { type ProblemDocument, RefusedError, UnreachableError } from './hub-errors.ts';

export interface Conversation {
  readonly url: string;
  /** @throws RefusedError, UnreachableError, as all of them do. */
  ask<T>(request: HubRequest, isAnswer?: (response: Response) => boolean): Promise<T>;
  askText(request: HubRequest): Promise<{ text: string; headers: Headers }>;
  /** Always as a stream, also when nobody listens: a connection that is silent for long is cut off by whatever lies between. */
  follow<T, P>(request: HubRequest, onProgress: ((progress: P) => void) | undefined): Promise<T>;
}

const EVENTS = 'text/event-stream';

/** @throws TypeError when the address or the token cannot be one. */
export function createConversation(options: HubClientOptions): Conversation {
  const { url, send } = createExchange(options);

  async function textOf(request: HubRequest, isAnswer?: (response: Response) => boolean) {
    const { response, end, fault } = await send(request, isAnswer);
    try {
      return { text: await response.text(), headers: response.headers };
    } catch (error) {
      throw fault(error);
    } finally {
      end();
    }
  }

  function readJson<T>(text: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (error) {
      throw new UnreachableError(url, 'answered something that is no JSON; is this its address?', { cause: error });
    }
  }

  return {
    url,
    ask: async <T>(request: HubRequest, isAnswer?: (response: Response) => boolean) =>
      readJson<T>((await textOf(request, isAnswer)).text),
    askText: (request) => textOf(request),
    async follow<T, P>(request: HubRequest, onProgress: ((progress: P) => void) | undefined): Promise<T> {
      const { response, touch, end, fault } = await send({ ...request, accept: EVENTS });
      try {
        if (!isEventStream(response)) return readJson<T>(await response.text());
        for await (const { event, data } of readEvents(touched(response.body ?? [], touch))) {
          if (event === 'result') return JSON.parse(data) as T;
          if (event === 'error') throw new RefusedError(JSON.parse(data) as ProblemDocument, response);
          if (event === 'progress') onProgress?.(JSON.parse(data) as P);
        }
      } catch (error) {
        throw error instanceof HubError ? error : fault(error);
      } finally {
        end();
      }
      throw new UnreachableError(url, 'ended before it told the result; ask it what became of the work');
    },
  };
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
