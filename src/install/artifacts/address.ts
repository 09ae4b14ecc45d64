// Addresses in specs: which are accepted, which may be connected to, and which receive credentials.
import { z } from 'zod';
import { FetchError } from '../../lib/net/fetch-error.ts';
import { shownAddress } from '../../lib/secrets/secret-address.ts';
import { InstallError } from '../errors.ts';
import type { ArtifactContext, Trust } from './artifact.ts';

export const LONGEST_ADDRESS = 2_048;

export const WebAddress = z
  .string()
  .max(LONGEST_ADDRESS, { error: `must not be longer than ${LONGEST_ADDRESS} characters`, abort: true })
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), {
    error: 'must be an address that starts with http:// or https://',
  });

/** Removes credentials, for lockfiles and reports. */
export function publicUrl(url: string): string {
  return shownAddress(new URL(url).href);
}

/** `what` begins the error message. @throws InstallError if this machine may not connect to the host. */
export async function vetHost(
  url: string,
  { vetAddress }: Pick<ArtifactContext, 'vetAddress'>,
  what = `The registry ${shownAddress(url)}`,
): Promise<void> {
  await vetAddress(url).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`${what} cannot be used: ${error.message}.`, { cause: error });
  });
}

/** `host` includes a non-default port. `ghcr.io/team` covers `ghcr.io/team/tool`, but not `ghcr.io/teams`. */
export function mayUseCredentials({ credentialsFor }: Pick<Trust, 'credentialsFor'>, host: string, path = ''): boolean {
  const wanted = `${host}/${path}`.toLowerCase().replace(/\/+/g, '/');
  return credentialsFor.some((entry) => `${wanted}/`.startsWith(`${entry.toLowerCase().replace(/\/+$/, '')}/`));
}
