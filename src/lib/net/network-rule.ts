// Decides which network addresses from external sources the hub may connect to.
import ipaddr from 'ipaddr.js';

export interface NetworkRule {
  /** Whether loopback and private addresses are allowed. */
  allowPrivate: boolean;
}

const PRIVATE_RANGES = ['loopback', 'private', 'uniqueLocal', 'carrierGradeNat'];
/** Cloud metadata services outside of the link-local range: Alibaba, Oracle, Azure, AWS, Google, Scaleway. */
const METADATA_ADDRESSES = [
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fd00:42::42',
];
/** The well-known prefix for IPv4 addresses embedded in the last 32 bits (RFC 6052). */
const WRAPPING_PREFIX = ipaddr.parseCIDR('64:ff9b::/96');
/** Obsolete IPv6 forms of IPv4 addresses. */
const COMPATIBLE_PREFIX = ipaddr.parseCIDR('::/96');

/** Why connecting to an address is not allowed; undefined if it is. Link-local and metadata addresses never are. */
export function addressFault(address: string, { allowPrivate }: NetworkRule): string | undefined {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  if (METADATA_ADDRESSES.includes(parsed.toString())) return 'is an address of a cloud’s metadata service';
  if (isWithin(parsed, WRAPPING_PREFIX)) return addressFault(wrappedAddress(parsed), { allowPrivate });
  const range = parsed.range();
  if (PRIVATE_RANGES.includes(range))
    return allowPrivate ? undefined : 'is a private or loopback address; ALLOW_PRIVATE_NETWORK=true allows it';
  if (range === 'unicast' && !isWithin(parsed, COMPATIBLE_PREFIX)) return undefined;
  return `is in a range that is never connected to (${range === 'unicast' ? 'IPv4-compatible' : range})`;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

function isWithin(address: Address, prefix: [Address, number]): boolean {
  return address.kind() === prefix[0].kind() && address.match(prefix);
}

function wrappedAddress(address: Address): string {
  return address.toByteArray().slice(-4).join('.');
}
