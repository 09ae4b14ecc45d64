// Which untrusted addresses may become links.

const SCHEMES = ['https:', 'http:', 'mailto:'];

/** In its normal form; undefined when following it could do anything but open another page or a mail. */
export function safeLink(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href, username, password } = new URL(address);
  // `https://your-bank.example@elsewhere.example` is made to mislead.
  return SCHEMES.includes(protocol) && `${username}${password}` === '' ? href : undefined;
}
