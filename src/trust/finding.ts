// The result of checking one artifact, and how bundles are turned into results.

import { z } from 'zod';
import type { TrustSignal } from '../catalog/contract.ts';
import { messageOf } from '../errors.ts';
import { parseJson, storableText } from '../lib/json.ts';
import type { Fetch } from '../lib/world.ts';
import type { Source, VerifyBundle } from './sigstore.ts';

/** `artifact` is the artifact as users write it. */
export type Finding = Pick<TrustSignal, 'artifact' | 'state' | 'detail' | 'digest' | 'source'>;

export interface CheckContext {
  verify: VerifyBundle;
  /** For hosts from manifests. */
  fetch: Fetch;
  /** For hosts set by the operator. */
  fetchTrusted: Fetch;
  /** URLs without a trailing slash. */
  npmRegistry: string;
  pypiIndex: string;
  signal: AbortSignal;
}

export interface Expected {
  /** The name of the subject; if undefined, only the digest is compared. */
  name?: string;
  algorithm: 'sha256' | 'sha512';
  hex: string;
  predicates: readonly string[];
}

const Statement = z.object({
  subject: z.array(z.object({ name: z.string().nullish(), digest: z.record(z.string(), z.string()) })),
  predicateType: z.string(),
});

export type Outcome = { ok: true; source: Source } | { ok: false; fault: string };

/** Whether a bundle is valid and its statement is about this artifact; a fault is a sentence. */
export function checkStatement(bundle: unknown, expected: Expected, verify: VerifyBundle): Outcome {
  return asOutcome(() => {
    const { source, statement } = verify(bundle);
    const read = Statement.safeParse(parseJson(String(statement ?? '')));
    if (!read.success) throw new Error('it contains no statement about an artifact');
    const { subject, predicateType } = read.data;
    if (!expected.predicates.includes(predicateType)) throw new Error(`its statement is of the type ${predicateType}`);
    const isNamed = subject.filter(({ name }) => expected.name === undefined || name === expected.name);
    if (isNamed.length === 0) throw new Error('it was made for another name');
    if (!isNamed.some(({ digest }) => digest[expected.algorithm] === expected.hex))
      throw new Error('it was made for other content');
    return source;
  });
}

const LONGEST_REASON = 200;

/** Bundles are untrusted: every error that the libraries throw is a fault of the bundle. */
export function asOutcome(check: () => Source): Outcome {
  try {
    return { ok: true, source: check() };
  } catch (error) {
    const reason = storableText(messageOf(error)).slice(0, LONGEST_REASON);
    return { ok: false, fault: `The signature is not valid: ${reason.replace(/\.$/, '')}.` };
  }
}

export function notChecked(artifact: string | null, detail: string): Finding {
  return { artifact, state: 'not_checked', detail, digest: null, source: null };
}

type About = Pick<Finding, 'artifact' | 'digest'>;

/** One valid signature is enough: others may come from people or keys that the hub does not know. */
export function findingOf(about: About, outcomes: readonly Outcome[]): Finding {
  const good = outcomes.find((outcome) => outcome.ok);
  if (good) return { ...about, state: 'verified', detail: sourceSentence(good.source), source: good.source };
  const bad = outcomes.find((outcome) => !outcome.ok);
  return { ...about, state: 'failed', detail: bad?.fault ?? '', source: null };
}

export function absent(about: About, detail: string): Finding {
  return { ...about, state: 'absent', detail, source: null };
}

function sourceSentence({ repository, commit, identity }: Source): string {
  return repository === null
    ? `Signed by ${identity}.`
    : `Built from ${repository}${commit ? ` at ${commit.slice(0, 12)}` : ''}.`;
}
