// Why an address is no remote, in words for whoever typed it.

/** The hub speaks to programs: it names the member of the request that is at fault. */
const FAULT = /^The request is not valid: url: (.+)$/;

export function addressRefusal(address: string, message: string): string {
  const protocol = URL.parse(address.trim())?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') return 'The address must begin with http:// or https://.';
  const fault = FAULT.exec(message)?.[1];
  return fault ? `The address ${fault}` : message;
}
