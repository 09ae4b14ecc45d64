// The error of a failed request.

export type FailureKind =
  | 'unauthorized'
  | 'not_found'
  | 'refused'
  | 'busy'
  | 'unreachable'
  /** Not a response of the hub: truncated, or sent by a proxy. */
  | 'unreadable'
  /** A bug in the page itself. */
  | 'page';

export interface Fault {
  path: string;
  message: string;
}

/** Thrown by every failed request. */
export class HubFailure extends Error {
  readonly kind: FailureKind;
  /** Identifies the request in the hub's log. */
  readonly requestId: string | undefined;
  /** Members of the request that the hub refused. */
  readonly faults: readonly Fault[];

  constructor(
    kind: FailureKind,
    message: string,
    { requestId, faults = [] }: { requestId?: string; faults?: readonly Fault[] } = {},
  ) {
    super(message);
    this.kind = kind;
    this.requestId = requestId;
    this.faults = faults;
  }
}
