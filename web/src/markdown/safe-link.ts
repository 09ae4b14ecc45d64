// Decides which untrusted addresses may become links.

const SCHEMES = ['https:', 'http:', 'mailto:'];

/** Returns the normalized address; undefined if it could do anything but open a page or a mail. */
export function safeLink(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, href, username, password } = new URL(address);
  // `https://your-bank.example@elsewhere.example` is deceptive.
  return SCHEMES.includes(protocol) && `${username}${password}` === '' ? href : undefined;
}
