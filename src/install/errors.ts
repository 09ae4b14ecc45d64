// Explains why a step of an install failed, in sentences that people can act on, without absolute paths.
import { HubError } from '../errors.ts';

export class InstallError extends Error {
  override readonly name = 'InstallError';
  /** Added to `extra` of the step, next to `error`. */
  readonly extra: Record<string, unknown>;

  constructor(message: string, options: { cause?: unknown; extra?: Record<string, unknown> } = {}) {
    super(message, { cause: options.cause });
    this.extra = options.extra ?? {};
  }
}

/** For faults of a lockfile that was edited, or that names something that no longer exists. */
export function cannotFollow(fault: string): InstallError {
  return new InstallError(`${fault} Restore hub.lock.json, or uninstall the entity and install it again.`);
}

export function issueSentence({ path, message }: { path: PropertyKey[]; message: string }, root: string): string {
  return `${[root, ...path].join('.')} ${message}`;
}

const NO_PERMISSION = 'The hub may not write there: give its user permission, or choose another target.';

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: free some space and install again.',
  EDQUOT: 'The disk quota of the hub is used up: free some space and install again.',
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: 'The filesystem is read-only: choose another target.',
  ENOTDIR: 'A file is where a folder should be: move it away, or choose another target.',
  ENAMETOOLONG: 'A name or path is longer than this filesystem allows.',
  EBUSY: 'Something in the target is in use: stop the program that uses it, and install again.',
  EXDEV: 'Part of the target is on another filesystem, so finished files cannot be moved there in one step.',
};

export function explain(error: unknown): string {
  if (error instanceof InstallError || error instanceof HubError) return error.message;
  const known = fileSentence(error);
  if (known) return known;
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  // The message of a system error contains paths.
  if (code && syscall)
    return `The system refused an operation (${code} in ${syscall}): check the target and its filesystem, then install again.`;
  return 'Something went wrong inside the hub; its log says more.';
}

/** Whether the error is a bug in the hub, which must be logged. */
export function isUnexpected(error: unknown): boolean {
  return !(error instanceof InstallError || error instanceof HubError) && !fileSentence(error);
}

function fileSentence(error: unknown): string | undefined {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && Object.hasOwn(FILE_ERRORS, code) ? FILE_ERRORS[code] : undefined;
}
