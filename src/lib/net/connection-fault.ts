// Explains failed connections. The words complete a sentence that starts with the URL or the host.

export function connectionFault(error: unknown): string {
  const { code, message } = deepestCause(error);
  const known = code === undefined ? undefined : CONNECTION_FAULTS[code];
  return known ?? `could not be reached (${code ?? message})`;
}

const CONNECTION_FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'could not be reached: nothing listens there (ECONNREFUSED)',
  ENOTFOUND: 'could not be reached: no such host is known; check the address, and your network (ENOTFOUND)',
  EAI_AGAIN: 'could not be reached: the DNS server does not respond (EAI_AGAIN)',
  ECONNRESET: 'closed the connection (ECONNRESET)',
  UND_ERR_SOCKET: 'closed the connection',
  ERR_SSL_WRONG_VERSION_NUMBER: 'does not use HTTPS on this port; try http://',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a self-signed certificate; to trust it, set NODE_EXTRA_CA_CERTS',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate from an unknown authority; to trust it, set NODE_EXTRA_CA_CERTS',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate from an unknown authority; to trust it, set NODE_EXTRA_CA_CERTS',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'has a certificate from an unknown authority; to trust it, set NODE_EXTRA_CA_CERTS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another host name',
  UND_ERR_CONNECT_TIMEOUT: 'could not be reached: the connection timed out',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
};

/** Causes may be circular. */
const DEEPEST_CAUSE = 10;

/** `fetch` reports "fetch failed" and hides the reason in nested causes. */
function deepestCause(error: unknown, depth = 0): { code?: string; message: string } {
  const { cause } = (error ?? {}) as { cause?: unknown };
  if (cause instanceof Error && depth < DEEPEST_CAUSE) return deepestCause(cause, depth + 1);
  const [first] = error instanceof AggregateError ? error.errors : [];
  return (first ?? error ?? { message: 'no reason given' }) as { code?: string; message: string };
}
