// What went wrong with a request.

export type FailureKind =
  | 'unauthorized'
  | 'not_found'
  | 'refused'
  | 'busy'
  | 'unreachable'
  /** An answer that is none of the hub's: cut off, or made by something in between. */
  | 'unreadable'
  /** The page itself is at fault. */
  | 'page';

/** Thrown by every request that did not work. */
export class HubFailure extends Error {
  readonly kind: FailureKind;
  /** With it, the hub's log says more. */
  readonly requestId: string | undefined;

  constructor(kind: FailureKind, message: string, requestId?: string) {
    super(message);
    this.kind = kind;
    this.requestId = requestId;
  }
}
