// Connections that are checked when they are made, by the very address that is connected to.
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
  /** Sends to a host, through the operator's proxy for it when there is one. */
  use<Result>(url: URL, send: (agent: Dispatcher) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Agents are made with the first request that needs them: a hub that starts should not wait for that. */
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
      // The proxy looks names up and decides where they lead; addresses that need no lookup are still checked here.
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
/** The time limit of each request is kept by its sender. */
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

/** Addresses written as numbers are not looked up, so that they are checked here. */
function checkedConnector(connect: buildConnector.connector, rule: NetworkRule): buildConnector.connector {
  return (options, done) => {
    const fault = literalFault(options.hostname, rule);
    if (fault) done(forbiddenHost(withoutBrackets(options.hostname), fault), null);
    else connect(options, done);
  };
}

/** Why a host may not be connected to that is written as a number; undefined when it may, or is a name. */
export function literalFault(hostname: string, rule: NetworkRule): string | undefined {
  const literal = withoutBrackets(hostname);
  return isIP(literal) ? addressFault(literal, rule) : undefined;
}

/** Names are checked here, on the very address that is then connected to: a second answer of the name server gains nothing. */
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
