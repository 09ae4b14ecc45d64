// Compiles one member of `match` or `except` into a test of an entity, and describes the value it found.
import type { TrustState } from '../catalog/contract.ts';
import { installedKinds, signersOf, trustState } from '../catalog/trust-signals.ts';
import { compileGlob } from '../lib/glob.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import type { Match } from './document.ts';
import type { PolicySubject } from './store.ts';

/** Texts are in lower case, because patterns ignore case; an empty list means that the entity has no value. */
export interface Facts {
  texts: Record<PatternMember, readonly string[]>;
  quality: number;
  ageDays: number;
  /** Undefined for an entity without artifacts, which matches neither `digest: true` nor `digest: false`. */
  hasDigests: boolean | undefined;
  trust: TrustState;
  /** The signers of all artifacts; empty unless all are verified. */
  signers: readonly string[];
}

export type PatternMember = 'type' | 'name' | 'publisher' | 'remote' | 'transport' | 'artifact' | 'license';
type Member = keyof Match;
type Test = (facts: Facts) => boolean;

/** The value in rules for an entity without a license, publisher and so on. */
export const NONE = 'none';
const DAY_MS = 86_400_000;

export function factsOf(subject: PolicySubject, now: Date): Facts {
  const { type, name, slug, publisher, remote, transports, artifacts, license } = subject;
  return {
    texts: {
      type: [type],
      name: name === slug ? lowerCase(name) : lowerCase(name, slug),
      publisher: lowerCase(publisher),
      remote: lowerCase(remote?.name, remote?.url),
      transport: transports,
      artifact: artifacts,
      license: lowerCase(license),
    },
    quality: subject.quality,
    ageDays: (now.getTime() - Date.parse(subject.publishedAt ?? subject.createdAt)) / DAY_MS,
    hasDigests: installedKinds(artifacts).length === 0 ? undefined : subject.hasDigests,
    trust: trustState(subject.trust, artifacts),
    signers: lowerCase(...signersOf(subject.trust)),
  };
}

/** All members must match; without members, everything matches. */
export function compileMatch(match: Match): Test {
  const tests = Object.entries(match).map(([member, wanted]) => compileMember(member as Member, wanted));
  return (facts) => tests.every((test) => test(facts));
}

type Conditions = { [M in Member]-?: (wanted: Required<Match>[M]) => Test };

const CONDITIONS: Conditions = {
  type: (wanted) => anyOf('type', wanted),
  name: (wanted) => anyOf('name', wanted),
  publisher: (wanted) => anyOf('publisher', wanted),
  remote: (wanted) => anyOf('remote', wanted),
  transport: (wanted) => anyOf('transport', wanted),
  artifact: (wanted) => anyOf('artifact', wanted),
  license: (wanted) => anyOf('license', wanted),
  quality_below: (limit) => (facts) => facts.quality < limit,
  quality_at_least: (limit) => (facts) => facts.quality >= limit,
  younger_than_days: (days) => (facts) => facts.ageDays < days,
  older_than_days: (days) => (facts) => facts.ageDays > days,
  digest: (wanted) => (facts) => facts.hasDigests === wanted,
  signature: (wanted) => (facts) => (facts.trust === 'verified') === wanted,
  trust: (wanted) => (facts) => wanted.includes(facts.trust),
  signed_by(wanted) {
    const { matches, isNoneMeant } = compilePatterns(wanted);
    // All signers must match: a rule that trusts one must not admit another.
    return ({ signers }) => (signers.length === 0 ? isNoneMeant : signers.every(matches));
  },
};

function compileMember(member: Member, wanted: unknown): Test {
  return (CONDITIONS[member] as (value: unknown) => Test)(wanted);
}

function anyOf(member: PatternMember, patterns: readonly string[]): Test {
  const { matches, isNoneMeant } = compilePatterns(patterns);
  return ({ texts }) => {
    const values = texts[member];
    return values.length === 0 ? isNoneMeant : values.some(matches);
  };
}

function compilePatterns(patterns: readonly string[]) {
  const isWildcard = (pattern: string) => /[*?]/.test(pattern);
  const exact = new Set(patterns.filter((pattern) => !isWildcard(pattern)).map((pattern) => pattern.toLowerCase()));
  const globs = patterns.filter(isWildcard).map(compileGlob);
  const matches = (text: string) => exact.has(text) || globs.some((isMatch) => isMatch(text));
  return { matches, isNoneMeant: exact.has(NONE) };
}

/** The value that an entity has for a member, in words: `license gpl-3.0`. */
export function foundWords(member: Member, facts: Facts): string {
  const { texts, quality, ageDays, hasDigests, trust, signers } = facts;
  if (member === 'remote') return `remote ${texts.remote.map(shownAddress).join(' or ') || NONE}`;
  if (member in texts) return `${member} ${texts[member as PatternMember].join(' or ') || NONE}`;
  if (member.startsWith('quality')) return `quality ${quality}`;
  if (member.endsWith('days')) return `an age of ${Math.floor(ageDays)} days`;
  if (member === 'signed_by') return `signers ${signers.join(' and ') || NONE}`;
  if (member === 'trust' || member === 'signature') return `signatures that are ${trust.replace('_', ' ')}`;
  if (hasDigests === undefined) return 'nothing to install';
  return hasDigests ? 'a digest for every artifact' : 'no digest for some artifact';
}

function lowerCase(...texts: (string | null | undefined)[]): string[] {
  return texts.flatMap((text) => text?.toLowerCase() ?? []);
}
