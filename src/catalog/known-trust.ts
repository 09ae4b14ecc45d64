// The trust signals that are known without a request to a registry.
import type { Trust, TrustSignal } from './contract.ts';
import type { EntityFacts } from './facts.ts';
import { installedKinds, trustState } from './trust-signals.ts';

export function signalOf(kind: string): TrustSignal['signal'] {
  return SIGNALS[kind] ?? 'other';
}

const SIGNALS: Record<string, TrustSignal['signal']> = {
  npm: 'npm_provenance',
  pypi: 'pypi_attestation',
  oci: 'image_signature',
};

interface TrustSubject {
  name: string;
  facts: EntityFacts;
  contentFrom: string | null;
  trust: Trust | null;
}

/** The stored result, or the absence of one, and what the remote vouches for. */
export function knownTrust(entity: TrustSubject, verifyingRemotes: readonly string[]): Trust {
  const {
    trust,
    facts: { artifacts },
  } = entity;
  const unchecked: Trust = {
    state: trustState(null, artifacts),
    checked_at: null,
    signals: installedKinds(artifacts).map((kind) => ({
      signal: signalOf(kind),
      ...UNKNOWN,
      detail: 'No check has run yet.',
    })),
  };
  const known = trust ?? unchecked;
  return { ...known, signals: [...known.signals, ...namespaceOf(entity, verifyingRemotes)] };
}

const UNKNOWN = { artifact: null, state: 'not_checked', digest: null, source: null } as const;

/** A name without a namespace claims nothing that could be verified. */
function namespaceOf({ name, contentFrom }: TrustSubject, verifyingRemotes: readonly string[]): TrustSignal[] {
  const [, namespace] = /^([^\s/]+\.[^\s/]+)\/[^\s/]/.exec(name) ?? [];
  if (namespace === undefined) return [];
  const by = verifyingRemotes.find((url) => `${contentFrom}/`.startsWith(`${url.replace(/\/$/, '')}/`));
  const signal = { signal: 'namespace', ...UNKNOWN, artifact: namespace } as const;
  return by === undefined
    ? [{ ...signal, detail: 'It was not verified by a registry that this hub trusts.' }]
    : [{ ...signal, state: 'verified', detail: `${new URL(by).host} verifies who may use it.` }];
}
