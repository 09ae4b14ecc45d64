// Connections that are checked when they are made, by the very address that is connected to.
import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, buildConnector } from 'undici';
import { withoutBrackets } from './address.ts';
import { forbiddenHost } from './fetch-error.ts';
import { addressFault, type NetworkRule } from './network-rule.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const CONNECTIONS_PER_ORIGIN = 64;

export interface GuardedAgent {
  use<Result>(send: (agent: Agent) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Made with the first request: a hub that starts should not wait for it. */
export function guardedAgent(rule: NetworkRule): GuardedAgent {
  let agent: Agent | undefined;
  let made: Promise<Agent> | undefined;

  async function make(): Promise<Agent> {
    const { Agent, buildConnector } = await import('undici');
    const connect = buildConnector({ lookup: checkedLookup(rule), timeout: CONNECT_TIMEOUT_MS });
    agent = new Agent({
      connections: CONNECTIONS_PER_ORIGIN,
      connect: checkedConnector(connect, rule),
      // The time limit of each request is kept by who sends it.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return agent;
  }

  return {
    use(send) {
      if (agent) return send(agent);
      made ??= make();
      return made.then(send);
    },
    close: async () => (await made)?.destroy(),
  };
}

/** Addresses written as numbers are not looked up, so that they are checked here. */
function checkedConnector(connect: buildConnector.connector, rule: NetworkRule): buildConnector.connector {
  return (options, done) => {
    const fault = literalFault(options.hostname, rule);
    if (fault) done(forbiddenHost(options.hostname, fault), null);
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
      if (!first) return done(forbiddenHost(hostname, faults[0] ?? 'has no address'), '', 0);
      if (options.all) done(null, allowed);
      else done(null, first.address, first.family);
    });
  };
}
