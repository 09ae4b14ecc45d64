// What went wrong with a request.

export type FailureKind =
  | 'unauthorized'
  | 'not_found'
  | 'refused'
  | 'busy'
  | 'unreachable'
  /** An answer that does not come from the hub: cut off, or made by a proxy. */
  | 'unreadable'
  /** The page itself is at fault. */
  | 'page';

export interface Fault {
  path: string;
  message: string;
}

/** Thrown by every request that did not work. */
export class HubFailure extends Error {
  readonly kind: FailureKind;
  /** With it, the hub's log says more. */
  readonly requestId: string | undefined;
  /** The members of the request that the hub refused. */
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
