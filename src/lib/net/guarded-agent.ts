// Connections that are checked when they are opened, by the address that is actually connected to.
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { withoutBrackets } from './address.ts';
import { forbiddenHost } from './fetch-error.ts';
import { addressFault, type NetworkRule } from './network-rule.ts';
import { noProxy, type ProxyFor } from './proxies.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;

export interface GuardedAgent {
  /** Sends to a host, through the operator's proxy if one applies. */
  use<Result>(url: URL, send: (agent: Dispatcher) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Agents are created by the first request that needs them, which keeps startup fast. */
export function guardedAgent(rule: NetworkRule, proxyFor: ProxyFor = noProxy): GuardedAgent {
  const made = new Map<string, Promise<Dispatcher>>();
  let direct: Dispatcher | undefined;

  function agentFor(proxy: string): Promise<Dispatcher> {
    const agent = made.get(proxy) ?? makeProxyAgent(proxy);
    made.set(proxy, agent);
    return agent;
  }

  async function directAgent(): Promise<Dispatcher> {
    const agent = made.get(DIRECT) ?? makeDirectAgent(rule);
    made.set(DIRECT, agent);
    direct = await agent;
    return direct;
  }

  return {
    async use(url, send) {
      const proxy = proxyFor(url);
      if (proxy === undefined) return send(direct ?? (await directAgent()));
      // The proxy resolves names and decides where they lead; IP addresses are still checked here.
      const fault = literalFault(url.hostname, rule);
      if (fault) throw forbiddenHost(withoutBrackets(url.hostname), fault);
      return send(await agentFor(proxy));
    },
    close: async () => {
      const agents = await Promise.all(made.values());
      await Promise.all(agents.map((agent) => agent.destroy()));
    },
  };
}

const DIRECT = 'direct';
/** The sender enforces the time limit of each request. */
const LIMITS = { connections: CONNECTIONS_PER_ORIGIN, headersTimeout: 0, bodyTimeout: 0 };

async function makeDirectAgent(rule: NetworkRule): Promise<Dispatcher> {
  const { Agent, buildConnector } = await import('undici');
  const connect = buildConnector({ lookup: checkedLookup(rule), timeout: CONNECT_TIMEOUT_MS });
  return new Agent({ ...LIMITS, connect: checkedConnector(connect, rule) });
}

async function makeProxyAgent(proxy: string): Promise<Dispatcher> {
  const { ProxyAgent } = await import('undici');
  return new ProxyAgent({ ...LIMITS, uri: proxy, connectTimeout: CONNECT_TIMEOUT_MS });
}

/** IP addresses are not looked up, so they are checked here. */
function checkedConnector(connect: buildConnector.connector, rule: NetworkRule): buildConnector.connector {
  return (options, done) => {
    const fault = literalFault(options.hostname, rule);
    if (fault) done(forbiddenHost(withoutBrackets(options.hostname), fault), null);
    else connect(options, done);
  };
}

/** Why connecting to this IP address is not allowed; undefined if it is allowed, or if the host is a name. */
export function literalFault(hostname: string, rule: NetworkRule): string | undefined {
  const literal = withoutBrackets(hostname);
  return isIP(literal) ? addressFault(literal, rule) : undefined;
}

/** Checks the same address that is then connected to, so a second, different DNS answer cannot bypass it. */
export function checkedLookup(rule: NetworkRule): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, '', 0);
      const faults = addresses.map(({ address }) => addressFault(address, rule));
      const allowed = addresses.filter((_address, index) => faults[index] === undefined);
      const [first] = allowed;
      if (!first) return done(forbiddenHost(hostname, faults[0] ?? 'is not known'), '', 0);
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}
