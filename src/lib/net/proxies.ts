// Selects the operator's proxy for a request, according to HTTPS_PROXY, HTTP_PROXY and NO_PROXY.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isLoopbackHost, withoutBrackets } from './address.ts';

/** The proxy's URL for a request; undefined for a direct connection. */
export type ProxyFor = (url: URL) => string | undefined;

export const noProxy: ProxyFor = () => undefined;

type Environment = Readonly<Record<string, string | undefined>>;

export function proxiesOf(environment: Environment): ProxyFor {
  const read = (name: string) => environment[name.toLowerCase()] || environment[name] || undefined;
  const any = proxyAddress(read('ALL_PROXY'));
  const proxies: Record<string, string | undefined> = {
    'https:': proxyAddress(read('HTTPS_PROXY')) ?? any,
    'http:': proxyAddress(read('HTTP_PROXY')) ?? any,
  };
  const exceptions = (read('NO_PROXY') ?? '').split(/[\s,]+/).filter(Boolean);
  return (url) => {
    const proxy = proxies[url.protocol];
    if (proxy === undefined) return undefined;
    const host = withoutBrackets(url.hostname).toLowerCase();
    // A proxy on another machine would resolve this to itself.
    if (isLoopbackHost(host)) return undefined;
    return exceptions.some((exception) => matches(exception.toLowerCase(), host, portOf(url))) ? undefined : proxy;
  };
}

/** Only http and https proxies are supported; the scheme is often omitted. */
function proxyAddress(written: string | undefined): string | undefined {
  if (written === undefined) return undefined;
  const address = written.includes('://') ? written : `http://${written}`;
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol) ? address : undefined;
}

/** `*`, a host including its subdomains, `host:port`, an IP address or a range. */
function matches(exception: string, host: string, port: string): boolean {
  if (exception === '*') return true;
  if (isIP(host) && exception.includes('/')) return isInRange(host, exception);
  const [, name = '', onlyPort] = /^(.*?)(?::(\d+))?$/.exec(isIP(exception) ? `[${exception}]` : exception) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const wanted = withoutBrackets(name).replace(/^\*?\./, '');
  return host === wanted || (!isIP(host) && host.endsWith(`.${wanted}`));
}

function isInRange(host: string, range: string): boolean {
  if (!ipaddr.isValidCIDR(range)) return false;
  const [address, prefix] = [ipaddr.process(host), ipaddr.parseCIDR(range)];
  return address.kind() === prefix[0].kind() && address.match(prefix);
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}
