// Whether an address belongs to a host that the operator named for credentials.
import type { Trust } from './artifact.ts';

/** `path` is compared part by part: `ghcr.io/team` covers `ghcr.io/team/tool` and not `ghcr.io/teams`. */
export function mayUseCredentials({ credentialsFor }: Pick<Trust, 'credentialsFor'>, host: string, path = ''): boolean {
  const wanted = `${host}/${path}`.toLowerCase().replace(/\/+/g, '/');
  return credentialsFor.some((entry) => `${wanted}/`.startsWith(`${entry.toLowerCase().replace(/\/+$/, '')}/`));
}
