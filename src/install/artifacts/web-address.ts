// Addresses of the web, as specs write them.
import { z } from 'zod';
import { shownAddress } from '../../lib/secret-address.ts';

/** Longest address that programs and hosts commonly accept. */
export const LONGEST_ADDRESS = 2_048;

export const WebAddress = z
  .string()
  .max(LONGEST_ADDRESS, { error: `must not be longer than ${LONGEST_ADDRESS} characters`, abort: true })
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: 'must be an address that starts with http:// or https://',
  });

/** Without the credentials that an address may hold: this form is written down. */
export function publicUrl(url: string): string {
  return shownAddress(new URL(url).href);
}
