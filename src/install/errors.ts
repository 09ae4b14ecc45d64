// A step of an install that failed for a reason that a person can act on.

export class InstallError extends Error {
  override readonly name = 'InstallError';
  /** Goes into `extra` of the step, beside `error`. */
  readonly extra: Record<string, unknown>;

  constructor(message: string, options: { cause?: unknown; extra?: Record<string, unknown> } = {}) {
    super(message, { cause: options.cause });
    this.extra = options.extra ?? {};
  }
}
