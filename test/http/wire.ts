// HTTP as bytes: for requests that no well-behaved client sends, and raw responses.
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { PROBLEM_TYPE, PROBLEMS, type Problem } from '../../src/http/problem.ts';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Injects a request without a socket and returns the same shape as over one. */
export async function inject(app: FastifyInstance, request: string | InjectOptions): Promise<Answer> {
  const { statusCode, headers, body } = await app.inject(request);
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  return { status: statusCode, headers: Object.fromEntries(texts), body };
}

/** Sends the bytes and waits until the server closes the connection. */
export async function exchange(address: string, bytes: string | Buffer): Promise<Answer> {
  const { hostname, port } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port) });
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.write(bytes);
  await new Promise<void>((resolve, reject) => {
    socket.once('close', () => resolve());
    // A server that refuses early may close while the client still writes; its response counts.
    socket.once('error', (error) => (received.length > 0 ? resolve() : reject(error)));
  });
  return parseAnswer(Buffer.concat(received).toString());
}

/** The text of a request that closes its connection. */
export function requestText(line: string, headers: Record<string, string> = {}, body = ''): string {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const fields = Object.entries({ Host: 'hub.test', Connection: 'close', ...length, ...headers });
  return `${line} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

export function parseAnswer(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  const [statusLine = '', ...fields] = head.split('\r\n');
  const headers = fields.map((field): [string, string] => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: rest.join('\r\n\r\n'),
  };
}

/** Asserts everything the contract says about errors, and returns the body. */
export function assertProblem(answer: Answer, code: keyof typeof PROBLEMS): Problem {
  const { status, title } = PROBLEMS[code];
  assert.equal(answer.status, status, answer.body);
  assert.match(answer.headers['content-type'] ?? '', new RegExp(`^${PROBLEM_TYPE.replace('+', '\\+')}(;|$)`));
  const problem = JSON.parse(answer.body) as Problem;
  assert.deepEqual(
    { type: problem.type, title: problem.title, status: problem.status, code: problem.code, error: problem.error },
    { type: `urn:hub:problem:${code}`, title, status, code, error: code },
  );
  assert.match(problem.detail, /^[A-Z].+\.$/s, 'the detail is a sentence');
  assert.equal(problem.request_id, answer.headers['x-request-id']);
  if (status === 401) assert.equal(answer.headers['www-authenticate'], 'Bearer');
  if (status === 429 || status === 503) assert.match(answer.headers['retry-after'] ?? '', /^[1-9]\d*$/);
  return problem;
}
