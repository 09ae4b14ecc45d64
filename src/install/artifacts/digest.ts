// Digests as manifests write them: `sha256:…`, `sha512:…`, or bare hex whose length says which it is.
import { z } from 'zod';
import type { DownloadReply } from '../../lib/world.ts';
import { InstallError } from '../errors.ts';

const DIGEST = /^(?:(?<named>sha256|sha512):)?(?<hex>[0-9a-f]{64}|[0-9a-f]{128})$/;
type Algorithm = 'sha256' | 'sha512';

/** `algorithm:hex`, in lower case. */
export const Digest = z.string().transform((text, context) => {
  const { named, hex = '' } = DIGEST.exec(text.trim().toLowerCase())?.groups ?? {};
  const algorithm = hex.length === 128 ? 'sha512' : 'sha256';
  if (hex && (named ?? algorithm) === algorithm) return `${algorithm}:${hex}`;
  context.addIssue("must be 'sha256:' and 64 hexadecimal digits, or 'sha512:' and 128");
  return z.NEVER;
});

export function checkDigest(expected: string, reply: Pick<DownloadReply, Algorithm>, what: string): void {
  const algorithm = expected.slice(0, expected.indexOf(':')) as Algorithm;
  const found = `${algorithm}:${reply[algorithm]}`;
  if (found !== expected) throw differs(what, { expected, found });
}

export function differs(what: string, extra: { expected: string; found: string }): InstallError {
  const digests = `its digest is ${extra.found}, and should be ${extra.expected}`;
  return new InstallError(`${what} is not what was expected: ${digests}.`, { extra });
}
