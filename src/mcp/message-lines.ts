// Reads standard input line by line: passes JSON-RPC messages on, and responds to any other line with a JSON-RPC error.
import { Transform } from 'node:stream';
import { PARSE_ERROR, ProtocolErrorCode, parseJSONRPCMessage } from '@modelcontextprotocol/server';

/** The response to a line that is not a request, so it has no request id. */
export interface LineError {
  jsonrpc: '2.0';
  id: null;
  error: { code: number; message: string };
}

/** For longer messages, the transport itself reports that they are too long. */
const LONGEST_LINE_BYTES = 10 * 1024 * 1024;
const LINE_END = 0x0a;

export function messageLines(refuse: (error: LineError) => void): Transform {
  let pending: Buffer[] = [];
  let pendingBytes = 0;

  function take(part: Buffer): Buffer {
    const whole = Buffer.concat([...pending, part]);
    pending = [];
    pendingBytes = 0;
    return whole;
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let start = 0;
      for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
        const line = take(chunk.subarray(start, end + 1));
        start = end + 1;
        const error = errorIn(line.toString('utf8'));
        if (error) refuse(error);
        else this.push(line);
      }
      pending.push(chunk.subarray(start));
      pendingBytes += chunk.length - start;
      if (pendingBytes > LONGEST_LINE_BYTES) this.push(take(Buffer.alloc(0)));
      done();
    },
  });
}

function errorIn(line: string): LineError | undefined {
  // The transport skips empty lines.
  if (line.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return lineError(PARSE_ERROR, `Parse error: ${(error as Error).message}`);
  }
  try {
    parseJSONRPCMessage(value);
    return undefined;
  } catch {
    return lineError(ProtocolErrorCode.InvalidRequest, 'Invalid Request: the line is not a JSON-RPC message');
  }
}

function lineError(code: number, message: string): LineError {
  return { jsonrpc: '2.0', id: null, error: { code, message } };
}
