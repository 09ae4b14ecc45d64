// The trust signals of an entity, and their labels. Uses no Node module, so that the page can import it.
import type { Trust, TrustSignal, TrustState } from './contract.ts';

/** An entity has the state of its weakest artifact; `absent` if it installs nothing that could be signed. */
export function weakestState(signals: readonly Pick<TrustSignal, 'state'>[]): TrustState {
  const states = signals.map(({ state }) => state);
  return WEAKEST_FIRST.find((state) => states.includes(state)) ?? 'absent';
}

/** Kinds of artifacts that are installed and could be signed. */
export function installedKinds(artifacts: readonly string[]): string[] {
  return artifacts.filter((kind) => kind !== 'remote');
}

/** The trust state of an entity, even if it has not been checked. */
export function trustState(trust: Trust | null, artifacts: readonly string[]): TrustState {
  return trust?.state ?? (installedKinds(artifacts).length === 0 ? 'absent' : 'not_checked');
}

const WEAKEST_FIRST = ['failed', 'not_checked', 'absent', 'verified'] as const;

/** The signer of each artifact: a repository, or a person's identity. Empty unless every artifact is verified. */
export function signersOf(trust: Trust | null): string[] {
  if (trust?.state !== 'verified') return [];
  return trust.signals.flatMap(({ source }) => (source ? (source.repository ?? source.identity) : []));
}

const NAMES: Record<TrustSignal['signal'], string> = {
  npm_provenance: 'npm provenance',
  pypi_attestation: 'PyPI attestation',
  image_signature: 'image signature',
  other: 'signature',
  namespace: 'namespace',
};

/** `npm provenance of pdf-tables@1.0.0: verified. Built from github.com/acme/pdf.` */
export function signalLine({ signal, artifact, state, detail }: TrustSignal): string {
  return `${NAMES[signal]}${artifact ? ` of ${artifact}` : ''}: ${state.replace('_', ' ')}. ${detail}`;
}

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
  facts: { artifacts: readonly string[] };
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
