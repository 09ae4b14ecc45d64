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
  const message = "must be 'sha256:' and 64 hexadecimal digits, or 'sha512:' and 128";
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

export function checkDigest(expected: string, reply: Pick<DownloadReply, Algorithm>, what: string): void {
  const algorithm = expected.slice(0, expected.indexOf(':')) as Algorithm;
  const found = `${algorithm}:${reply[algorithm]}`;
  if (found !== expected) throw differs(what, { expected, found });
}

export function differs(what: string, digests: { expected: string; found: string }): InstallError {
  const { expected, found } = digests;
  return new InstallError(`${what} is not what was expected: its digest is ${found}, and should be ${expected}.`, {
    extra: digests,
  });
}
