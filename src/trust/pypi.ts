// Checks Python packages: the attestations (PEP 740) that the index stores with each file.
import { z } from 'zod';
import { weakestState } from '../catalog/trust-signals.ts';
import { PypiSpec } from '../install/artifacts/python/requirements.ts';
import type { JsonObject } from '../lib/json.ts';
import { ask } from './ask.ts';
import { absent, type CheckContext, checkStatement, type Finding, findingOf, notChecked } from './finding.ts';
import { STATEMENT_TYPE } from './sigstore.ts';

const PREDICATES = ['https://docs.pypi.org/attestations/publish/v1', 'https://slsa.dev/provenance/v1'];
const MOST_FILES = 20;
const MOST_ATTESTATIONS = 5;

const File = z.object({
  filename: z.string().regex(/^[\w.+!-]{1,300}$/),
  digests: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
});
type File = z.infer<typeof File>;
const Release = z.object({ urls: z.array(File).min(1) });

const Attestation = z.object({
  version: z.literal(1),
  verification_material: z.object({ certificate: z.string(), transparency_entries: z.array(z.unknown()) }),
  envelope: z.object({ statement: z.string(), signature: z.string() }),
});
const Provenance = z.object({ attestation_bundles: z.array(z.object({ attestations: z.array(z.unknown()) })) });

export async function checkPypi(artifact: JsonObject, context: CheckContext): Promise<Finding> {
  const { fetchTrusted: fetch, pypiIndex, signal } = context;
  const spec = PypiSpec.safeParse(artifact.spec).data;
  const [, version] = /[^!~<>=]={2,3} *([^*,\s]+)$/.exec(spec?.requirement ?? '') ?? [];
  if (!spec || !version) return notChecked(spec?.name ?? null, 'Only an exact version can be checked.');
  const what = `${spec.name}==${version}`;
  if (spec.indexUrl) return notChecked(what, 'It comes from an index that its manifest names.');

  const host = new URL(pypiIndex).host;
  const release = `${spec.name}/${encodeURIComponent(version)}`;
  const answer = await ask({ fetch, url: `${pypiIndex}/pypi/${release}/json`, signal });
  if (answer.outcome === 'unavailable') return notChecked(what, answer.reason);
  const files = answer.outcome === 'ok' ? Release.safeParse(answer.document).data?.urls : undefined;
  if (!files) return notChecked(what, `${host} has no such version, or no digests of it.`);
  if (files.length > MOST_FILES)
    return notChecked(what, `It has ${files.length} files, more than the limit of ${MOST_FILES} for a check.`);
  const findings: Finding[] = [];
  for (const file of files) findings.push(await checkFile(file, `${pypiIndex}/integrity/${release}`, context));
  return together(what, findings);
}

async function checkFile({ filename, digests }: File, address: string, context: CheckContext): Promise<Finding> {
  const { verify, fetchTrusted: fetch, signal } = context;
  const about = { artifact: filename, digest: `sha256:${digests.sha256}` };
  const url = `${address}/${encodeURIComponent(filename)}/provenance`;
  const headers = { accept: 'application/vnd.pypi.integrity.v1+json' };
  const answer = await ask({ fetch, url, headers, signal });
  if (answer.outcome === 'missing') return absent(about, 'The index has no attestation for it.');
  if (answer.outcome === 'unavailable') return notChecked(filename, answer.reason);
  const read = Provenance.safeParse(answer.document).data;
  const attestations = read?.attestation_bundles.flatMap((bundle) => bundle.attestations) ?? [];
  const expected = { name: filename, algorithm: 'sha256' as const, hex: digests.sha256, predicates: PREDICATES };
  const outcomes = attestations
    .slice(0, MOST_ATTESTATIONS)
    .map((attestation) => checkStatement(bundleOf(attestation), expected, verify));
  return outcomes.length === 0
    ? notChecked(filename, 'The index sent an answer that cannot be read.')
    : findingOf(about, outcomes);
}

/** An attestation contains the parts of a bundle under other names. Undefined, which is not a valid bundle, if it is unreadable. */
function bundleOf(attestation: unknown): unknown {
  const read = Attestation.safeParse(attestation).data;
  if (!read) return undefined;
  const { verification_material, envelope } = read;
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: {
      certificate: { rawBytes: verification_material.certificate },
      tlogEntries: verification_material.transparency_entries,
    },
    dsseEnvelope: {
      payload: envelope.statement,
      payloadType: STATEMENT_TYPE,
      signatures: [{ sig: envelope.signature }],
    },
  };
}

/** The file that gets installed depends on the machine, so the weakest result counts. */
function together(artifact: string, findings: readonly Finding[]): Finding {
  const state = weakestState(findings);
  const weakest = findings.find((finding) => finding.state === state) as Finding;
  const repositories = new Set(findings.map(({ source }) => source?.repository ?? source?.identity));
  if (state === 'verified' && repositories.size > 1)
    return {
      ...weakest,
      artifact,
      state: 'failed',
      detail: 'Its files were signed by different sources.',
      source: null,
    };
  return {
    ...{ artifact, state, source: weakest.source },
    detail: state === 'verified' ? weakest.detail : `${weakest.artifact}: ${weakest.detail}`,
    digest: findings.flatMap(({ digest }) => digest ?? []).join(' ') || null,
  };
}
