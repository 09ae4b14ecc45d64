// Why a step of an install failed, as a sentence that a person can act on; paths of the machine are left out.
import { HubError } from '../errors.ts';
import { FetchError } from '../lib/fetch-error.ts';
import { RunError } from '../lib/run.ts';
import { PathError } from './target/files.ts';

export class InstallError extends Error {
  override readonly name = 'InstallError';
  /** Goes into `extra` of the step, beside `error`. */
  readonly extra: Record<string, unknown>;

  constructor(message: string, options: { cause?: unknown; extra?: Record<string, unknown> } = {}) {
    super(message, { cause: options.cause });
    this.extra = options.extra ?? {};
  }
}

const NO_PERMISSION = 'The hub may not write there: give its user permission, or choose another target.';
const TRY_LATER = 'The machine is short of something that the install needs: try again later.';
const OTHER_FILESYSTEM =
  'This filesystem does not take a name or an operation that the install needs: choose another target.';

const FILE_ERRORS: Readonly<Record<string, string>> = {
  ENOSPC: 'The disk is full: make room and install again.',
  EDQUOT: 'The disk quota of the hub is used up: make room and install again.',
  EFBIG: 'A file is larger than this filesystem or the limits of the hub’s process allow.',
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  EROFS: 'The filesystem is read-only: choose another target.',
  ENOTDIR: 'A file is where a folder should be: move it away, or choose another target.',
  EISDIR: 'A folder is where a file should be: move it away, or choose another target.',
  ENOENT:
    'Something in the target was moved or removed while it was being read or written: install again when nothing else changes it.',
  ENOTEMPTY: 'Something else wrote into a folder of the target while it was being replaced: install again.',
  EBUSY: 'Something in the target is in use, or is a filesystem of its own: end what uses it, and install again.',
  ETXTBSY: 'A program in the target is running: end it, and install again.',
  EINVAL: OTHER_FILESYSTEM,
  EILSEQ: OTHER_FILESYSTEM,
  ENOTSUP: OTHER_FILESYSTEM,
  EMLINK: OTHER_FILESYSTEM,
  ENOMEM: TRY_LATER,
  EAGAIN: TRY_LATER,
  EMFILE: TRY_LATER,
  ENFILE: TRY_LATER,
  ESTALE: 'The filesystem of the target was taken away and came back: install again.',
  EEXIST: 'Something is there already where the install wants to write.',
  ELOOP: 'There is a link in the way, and links are not followed.',
  ENAMETOOLONG: 'A name or path is longer than this filesystem allows.',
  EXDEV: 'Part of the target is on another filesystem, where finished files cannot be moved to in one go.',
  EIO: 'The disk reports an error while reading or writing.',
};

export function explain(error: unknown): string {
  if (error instanceof InstallError || error instanceof PathError || error instanceof HubError) return error.message;
  if (error instanceof RunError) return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
  if (error instanceof FetchError) return `The address ${error.message}.`;
  const { code, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  // Of the system, whatever it is; its message would hold paths.
  if (!fileSentence(error) && code !== undefined && syscall !== undefined && /^E[A-Z0-9]+$/.test(code))
    return `The system of the hub refused something (${code} while doing ${syscall}): look at the target and its filesystem, then install again.`;
  return fileSentence(error) ?? 'Something went wrong inside the hub; its log has more.';
}

/** Whether the hub itself is to blame: then the log should have it. */
export function isUnexpected(error: unknown): boolean {
  const isExpected = [InstallError, PathError, HubError, RunError, FetchError].some((kind) => error instanceof kind);
  return !isExpected && !fileSentence(error);
}

export function fileSentence(error: unknown): string | undefined {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && Object.hasOwn(FILE_ERRORS, code) ? FILE_ERRORS[code] : undefined;
}
