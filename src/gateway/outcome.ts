// Answers of the gateway → what they mean for a registration.
import { shownUrl } from '../catalog/server.ts';
import { type GatewayReply, statusOf } from './answer.ts';
import type { CallReport, Registration } from './contract.ts';
import { explain } from './explain.ts';
import type { GatewayRow } from './lookup.ts';

type Failure = Exclude<GatewayReply, { kind: 'ok' }>;
type GatewayDown = Omit<Extract<Registration, { outcome: 'gateway_down' }>, 'calls'>;

/** The answer as a sentence. */
export function sentenceFor(reply: Failure, url?: string): string {
  if (reply.kind === 'refused') return explain(reply, url);
  // A gateway connects to a server before it answers, and most often it is the server that it waits for.
  const waiting =
    reply.kind === 'timeout' && url
      ? `; the server at ${shownUrl(url).replace(/[?#].*$/s, '')} may be the one that hangs`
      : '';
  return `The gateway ${reply.error}${waiting}.`;
}

/** Undefined when the answer is about this one registration only: with a token that is not accepted, none can succeed. */
export function gatewayDown(reply: Failure): GatewayDown | undefined {
  const isDown = reply.kind === 'down' || (reply.kind === 'refused' && reply.status === 401);
  return isDown ? gatewayUnusable(reply) : undefined;
}

/** For calls that every registration needs, such as lists: whatever went wrong, it will for all. */
export function gatewayUnusable(reply: Failure): GatewayDown {
  const isElsewhere = reply.kind === 'refused' && reply.status === 404;
  const error = `${sentenceFor(reply)}${isElsewhere ? ' Check MCP_GATEWAY_URL: a gateway has lists.' : ''}`;
  if (reply.kind !== 'down' || reply.retryAfterMs === undefined) return { outcome: 'gateway_down', error };
  const { retryAfterMs } = reply;
  return {
    outcome: 'gateway_down',
    error: `${error} It asks to wait ${Math.ceil(retryAfterMs / 1000)} s.`,
    retryAfterMs,
  };
}

export function failedCall(report: Omit<CallReport, 'outcome'>, reply: Failure): CallReport {
  return { ...report, outcome: 'failed', status: statusOf(reply), error: sentenceFor(reply, report.url) };
}

/** With what the gateway said of the last one, if it was asked. */
export function allNamesTaken(conflict?: string): string {
  return ['All names for it are taken in the gateway.', conflict].filter(Boolean).join(' ');
}

export interface Success {
  calls: CallReport[];
  report: CallReport;
  row: GatewayRow;
  /** Whether the hub gave it the name that it has. */
  isOurs: boolean;
}

export function registered({ calls, report, row, isOurs }: Success): Registration {
  calls.push({ ...report, ...(row.id ? { id: row.id } : {}) });
  return { outcome: 'registered', calls, name: row.name, isOurs };
}
