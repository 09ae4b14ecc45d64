// Credentials for private indexes and registries: sent to the addresses that the operator named, never to other hosts.
import type { Fetch } from '../lib/world.ts';

export interface RemoteCredential {
  /** How addresses begin; ends with a `/`. */
  prefix: string;
  header: string;
  value: string;
}

export interface RemoteCredentials {
  isFor(url: string): boolean;
  /** The same requests, with what belongs to their addresses. */
  with(fetch: Fetch): Fetch;
}

export function createRemoteCredentials(credentials: readonly RemoteCredential[]): RemoteCredentials {
  // The longest first: what is said of a folder counts more than what is said of its host.
  const byLength = credentials.toSorted((a, b) => b.prefix.length - a.prefix.length);

  function credentialFor(url: string): RemoteCredential | undefined {
    if (byLength.length === 0) return undefined;
    const { origin = '', pathname = '' } = URL.parse(url) ?? {};
    return byLength.find(({ prefix }) => `${origin}${pathname}/`.startsWith(prefix));
  }

  return {
    isFor: (url) => credentialFor(url) !== undefined,
    with: (fetch) => async (request) => {
      const credential = credentialFor(request.url);
      if (!credential) return fetch(request);
      return fetch({ ...request, headers: { ...request.headers, [credential.header]: credential.value } });
    },
  };
}
