// Digests as manifests write them: `sha256:…`, `sha512:…`, or bare hex whose length says which it is.
import { z } from 'zod';
import type { DownloadReply } from '../../lib/world.ts';
import { InstallError } from '../errors.ts';

const HEX_LENGTHS = { sha256: 64, sha512: 128 } as const;
type Algorithm = keyof typeof HEX_LENGTHS;

/** `algorithm:hex`, in lower case. */
export const Digest = z.string().transform((text, context) => {
  const written = text.trim().toLowerCase();
  const [, name, hex = ''] = /^(?:([a-z0-9]+):)?(.*)$/s.exec(written) ?? [];
  const algorithm = name ?? (hex.length === HEX_LENGTHS.sha512 ? 'sha512' : 'sha256');
  const fault = digestFault(algorithm, hex);
  if (fault === undefined) return `${algorithm}:${hex}`;
  context.addIssue({ code: 'custom', message: fault });
  return z.NEVER;
});

function digestFault(algorithm: string, hex: string): string | undefined {
  if (!Object.hasOwn(HEX_LENGTHS, algorithm)) return `must be sha256 or sha512, and is '${algorithm.slice(0, 20)}'`;
  const length = HEX_LENGTHS[algorithm as Algorithm];
  if (/^sha(256|512)-/.test(hex))
    return `must be written as 'sha256:' or 'sha512:' and hexadecimal digits, with a colon`;
  if (hex.length !== length) return `must have ${length} hexadecimal digits for ${algorithm}, and has ${hex.length}`;
  return /^[0-9a-f]+$/.test(hex) ? undefined : 'must be written in hexadecimal digits';
}

/** @throws InstallError when what was downloaded is something else. */
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
