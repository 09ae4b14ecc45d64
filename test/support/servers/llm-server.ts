// A language model behind an OpenAI-compatible endpoint on loopback: the test decides what it says, and when.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Ending } from '../databases/databases.ts';

export interface AskedQuestion {
  headers: IncomingMessage['headers'];
  path: string;
  body: { model: string; messages: { role: string; content: string }[] };
  /** The content of the second message. */
  data: { query: string; candidates: { id: number; name: string; summary: string }[] };
}

/** A string is the model's answer; an object is the whole response of the endpoint. */
export type Said = string | { status: number; body: string } | 'silence';

export interface LlmServer {
  readonly baseUrl: string;
  readonly questions: AskedQuestion[];
  answer(say: (question: AskedQuestion) => Said): void;
}

export async function startLlm(t: Ending): Promise<LlmServer> {
  const questions: AskedQuestion[] = [];
  let say: (question: AskedQuestion) => Said = () => ({ status: 500, body: 'no answer was prepared' });
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request));
    const question = {
      headers: request.headers,
      path: request.url ?? '',
      body,
      data: JSON.parse(body.messages.at(-1).content),
    };
    questions.push(question);
    const said = say(question);
    if (said === 'silence') return;
    if (typeof said === 'object') return void response.writeHead(said.status).end(said.body);
    const message = { role: 'assistant', content: said };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [{ message }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    questions,
    answer: (how) => {
      say = how;
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
