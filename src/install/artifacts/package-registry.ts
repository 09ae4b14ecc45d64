// Package registries that a manifest names: which addresses it may give, and who gets credentials.
import { z } from 'zod';
import { FetchError } from '../../lib/fetch-error.ts';
import { shownAddress } from '../../lib/secret-address.ts';
import { InstallError } from '../errors.ts';
import type { ArtifactContext } from './artifact.ts';

const LONGEST_ADDRESS = 2_048;

export const RegistryAddress = z
  .string()
  .max(LONGEST_ADDRESS, { error: `must not be longer than ${LONGEST_ADDRESS} characters`, abort: true })
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be an address that starts with http:// or https://',
  });

/** @throws InstallError when this machine may not connect to it. */
export async function vetRegistry(url: string, { vetAddress }: Pick<ArtifactContext, 'vetAddress'>): Promise<void> {
  await vetAddress(url).catch((error: unknown) => {
    if (!(error instanceof FetchError)) throw error;
    throw new InstallError(`The registry ${shownAddress(url)} cannot be used: ${error.message}.`, { cause: error });
  });
}
