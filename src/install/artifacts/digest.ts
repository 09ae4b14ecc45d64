// Digests in manifests: `sha256:…`, or bare hex.
import { z } from 'zod';
import { InstallError } from '../errors.ts';

const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/;

/** `sha256:hex`, in lower case. */
export const Digest = z.string().transform((text, context) => {
  const [, hex] = DIGEST.exec(text.trim().toLowerCase()) ?? [];
  if (hex) return `sha256:${hex}`;
  context.addIssue("must be 'sha256:' and 64 hexadecimal digits");
  return z.NEVER;
});

/** @throws InstallError */
export function checkDigest(what: string, { expected, found }: { expected: string; found: string }): void {
  if (found === expected) return;
  const digests = `its digest is ${found}, but should be ${expected}`;
  throw new InstallError(`${what} is not what was expected: ${digests}.`, { extra: { expected, found } });
}
