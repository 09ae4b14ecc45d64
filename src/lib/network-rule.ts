// Which network addresses the hub may connect to on somebody else's word.
import ipaddr from 'ipaddr.js';

export interface NetworkRule {
  /** Whether loopback and private addresses are allowed. */
  allowPrivate: boolean;
}

const PRIVATE_RANGES = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'];
/** Where clouds hand out credentials, outside of the link-local range. */
const METADATA_ADDRESSES = ['100.100.100.200', '192.0.0.192', 'fd00:ec2::254'];

/** Why an address may not be connected to; undefined when it may. Link-local and metadata addresses never may. */
export function addressFault(address: string, { allowPrivate }: NetworkRule): string | undefined {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (METADATA_ADDRESSES.includes(parsed.toString())) return 'is an address of a cloud’s metadata service';
  const range = parsed.range();
  if (range === 'unicast') return undefined;
  // IPv6 that only wraps an IPv4 address is judged by what it wraps.
  if (range === 'rfc6052') return addressFault(wrappedAddress(parsed), { allowPrivate });
  if (!PRIVATE_RANGES.includes(range)) return `is in a range that is never connected to (${range})`;
  return allowPrivate ? undefined : 'is private or loopback, which ALLOW_PRIVATE_NETWORK does not allow';
}

function wrappedAddress(address: ipaddr.IPv4 | ipaddr.IPv6): string {
  return address.toByteArray().slice(-4).join('.');
}
