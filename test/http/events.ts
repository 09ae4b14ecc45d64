// Reads server-sent events as a client does.

export interface ReceivedEvent {
  event: string;
  data: unknown;
}

export function eventsOf(stream: string): ReceivedEvent[] {
  return stream
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s, 2) as [string, string]));
      return { event: fields.get('event') ?? '', data: JSON.parse(fields.get('data') ?? 'null') };
    });
}
