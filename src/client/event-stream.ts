// Parses server-sent events as the HTML standard defines them.

export interface ServerEvent {
  event: string;
  data: string;
}

/** Ends with the stream; an incomplete event at the end is dropped. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  let event = '';
  let data: string[] = [];
  for await (const line of readLines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield { event: event || 'message', data: data.join('\n') };
      event = '';
      data = [];
      continue;
    }
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'event') event = value;
    if (field === 'data') data.push(value);
  }
}

/** Lines end with CR, LF or both; the last one counts only when it has ended. */
async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    // A CR at the very end may be half of a CRLF.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    yield* lines;
  }
  const lines = rest.split(/\r\n|\n|\r/);
  lines.pop();
  yield* lines;
}
