// Credentials for private remotes: used only for the matching remote, and sent to no other address.
import { isBelow } from '../lib/net/fetch.ts';
import type { Fetch, FetchReply, FetchRequest } from '../lib/world.ts';

export interface RemoteCredential {
  /** Prefix of addresses; ends with a `/`. */
  prefix: string;
  header: string;
  value: string;
}

/** A request for an index or its manifests; `remote` is the address of the index. */
export type RemoteFetch = (request: FetchRequest & { remote: string }) => Promise<FetchReply>;

export interface RemoteCredentials {
  /** Whether a remote with this address has credentials. */
  isFor(remote: string): boolean;
  /** Adds the credentials that match both the remote and the requested address. */
  with(fetch: Fetch): RemoteFetch;
}

export function createRemoteCredentials(credentials: readonly RemoteCredential[]): RemoteCredentials {
  // Longest first: a folder is more specific than its host.
  const byLength = credentials.toSorted((a, b) => b.prefix.length - a.prefix.length);

  /** An untrusted index must not be able to use the credentials of another remote. */
  function credentialFor(remote: string, url: string): RemoteCredential | undefined {
    if (byLength.length === 0) return undefined;
    const addresses = [remote, url].map((each) => URL.parse(each));
    return byLength.find(({ prefix }) => addresses.every((each) => each && isBelow(each, prefix)));
  }

  return {
    isFor: (remote) => credentialFor(remote, remote) !== undefined,
    with:
      (fetch) =>
      async ({ remote, ...request }) => {
        const credential = credentialFor(remote, request.url);
        if (!credential) return fetch(request);
        const { prefix, header, value } = credential;
        return fetch({ ...request, headers: { ...request.headers, [header]: value }, credentialScope: prefix });
      },
  };
}
