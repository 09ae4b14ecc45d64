// Checks npm packages: the provenance that the registry stores with a version.
import semver from 'semver';
import { z } from 'zod';
import { NpmSpec } from '../install/artifacts/npm/npm-packages.ts';
import { asObject, asText, type JsonObject } from '../lib/json.ts';
import { ask } from './ask.ts';
import { absent, type CheckContext, checkStatement, type Finding, findingOf, notChecked } from './finding.ts';

const PROVENANCE = ['https://slsa.dev/provenance/v1', 'https://slsa.dev/provenance/v0.2'];
const MOST_BUNDLES = 5;

const Version = z.object({ dist: z.object({ integrity: z.string(), attestations: z.unknown().optional() }) });
const Attestations = z.object({ attestations: z.array(z.object({ predicateType: z.string(), bundle: z.unknown() })) });

export async function checkNpm(artifact: JsonObject, context: CheckContext): Promise<Finding> {
  const { verify, fetchTrusted: fetch, npmRegistry, signal } = context;
  const spec = NpmSpec.safeParse(artifact.spec).data;
  const version = semver.valid(spec?.version ?? '');
  if (!spec || !version) return notChecked(spec?.package ?? null, 'Only an exact version can be checked.');
  const what = `${spec.package}@${version}`;
  if (spec.registry_url) return notChecked(what, 'It comes from a registry that its manifest names.');

  const host = new URL(npmRegistry).host;
  const path = `${spec.package.replace('/', '%2f')}/${version}`;
  const published = await ask({ fetch, url: `${npmRegistry}/${path}`, signal });
  if (published.outcome === 'unavailable') return notChecked(what, published.reason);
  const dist = published.outcome === 'ok' ? Version.safeParse(published.document).data?.dist : undefined;
  const [, sha512] = /^sha512-([A-Za-z0-9+/]{86}==)$/.exec(dist?.integrity ?? '') ?? [];
  if (!dist || !sha512) return notChecked(what, `${host} has no such version, or no digest of it.`);

  const about = { artifact: what, digest: dist.integrity };
  const { digest: stated, integrity } = asObject(artifact.spec);
  const named = asText(stated) ?? asText(integrity);
  if (named?.startsWith('sha512-') && named !== dist.integrity)
    return findingOf(about, [{ ok: false, fault: `The digest at ${host} differs from the one in the manifest.` }]);
  const none = absent(about, `${host} has no provenance for this version.`);
  if (!dist.attestations) return none;

  const url = `${npmRegistry}/-/npm/v1/attestations/${spec.package.replace('/', '%2f')}@${version}`;
  const answer = await ask({ fetch, url, signal });
  if (answer.outcome === 'unavailable') return notChecked(what, answer.reason);
  const read = answer.outcome === 'ok' ? Attestations.safeParse(answer.document).data : undefined;
  if (!read) return notChecked(what, `${host} lists provenance for this version, but does not return it.`);
  const bundles = read.attestations.filter(({ predicateType }) => PROVENANCE.includes(predicateType));
  if (bundles.length === 0) return none;
  const expected = {
    name: `pkg:npm/${spec.package.replace('@', '%40')}@${version}`,
    algorithm: 'sha512' as const,
    hex: Buffer.from(sha512, 'base64').toString('hex'),
    predicates: PROVENANCE,
  };
  return findingOf(
    about,
    bundles.slice(0, MOST_BUNDLES).map(({ bundle }) => checkStatement(bundle, expected, verify)),
  );
}
