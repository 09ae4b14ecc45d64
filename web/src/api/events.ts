// Long operations: progress as events, and the final response.
import type { Problem } from '../../../src/http/problem.ts';
import { HubFailure } from './failure.ts';
import { parseJson, type RequestOptions, send } from './http.ts';
import { problemFailure, unreachable } from './problem.ts';

/** @throws HubFailure if the operation failed, or the stream broke off. */
export async function follow<Progress, Result>(
  path: string,
  options: RequestOptions,
  onProgress: (progress: Progress) => void,
): Promise<Result> {
  const response = await send(path, { ...options, accept: 'text/event-stream' });
  for await (const { event, data } of eventsOf(response)) {
    if (event === 'progress') onProgress(data as Progress);
    if (event === 'result') return data as Result;
    if (event === 'error') throw problemFailure(data as Problem);
  }
  throw new HubFailure(
    'unreachable',
    'The connection closed before the work was done. It may still be running in the hub.',
  );
}

interface ServerEvent {
  event: string;
  data: unknown;
}

async function* eventsOf({ body }: Response): AsyncGenerator<ServerEvent> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  while (reader) {
    const { value = '', done } = await reader.read().catch(() => {
      throw unreachable();
    });
    const [last = '', ...whole] = `${rest}${value}`.split('\n\n').reverse();
    rest = last;
    for (const text of whole.reverse()) yield parseEvent(text);
    if (done) return;
  }
}

function parseEvent(text: string): ServerEvent {
  const fields = new Map(text.split('\n').map((line) => [line.split(': ', 1)[0] ?? '', line.replace(/^[^:]*: ?/, '')]));
  return { event: fields.get('event') ?? 'message', data: parseJson(fields.get('data') ?? 'null') };
}
