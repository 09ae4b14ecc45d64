// Checks container images: cosign signatures, stored next to the image or as its referrers.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { pullName } from '../catalog/launch/image-reference.ts';
import { ImageSpec } from '../install/artifacts/image/image.ts';
import { MANIFEST_TYPES, registryAddress, withToken } from '../install/artifacts/image/registry.ts';
import { asObject, type JsonObject, parseJson } from '../lib/json.ts';
import { type Answer, ask } from './ask.ts';
import {
  absent,
  asOutcome,
  type CheckContext,
  checkStatement,
  type Finding,
  findingOf,
  notChecked,
  type Outcome,
} from './finding.ts';
import type { VerifyBundle } from './sigstore.ts';

const MOST_SIGNATURES = 5;
const PREDICATES = [
  'https://sigstore.dev/cosign/sign/v1',
  'https://slsa.dev/provenance/v1',
  'https://slsa.dev/provenance/v0.2',
];
const BUNDLE_TYPE = /^application\/vnd\.dev\.sigstore\.bundle/;
const CERTIFICATE = 'dev.sigstore.cosign/certificate';

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const Layer = z.object({ digest: Digest, annotations: z.record(z.string(), z.string()).optional() });
const Manifest = z.object({ layers: z.array(Layer) });
const Index = z.object({ manifests: z.array(z.object({ digest: Digest, artifactType: z.string().optional() })) });

type Found = Outcome[] | { unavailable: string };

/** Reads below the address of the image. */
type Get = (path: string) => Promise<Answer>;

export async function checkImage(artifact: JsonObject, { fetch, verify, signal }: CheckContext): Promise<Finding> {
  const image = ImageSpec.safeParse(artifact.spec).data;
  if (!image) return notChecked(null, 'The name of the image cannot be read.');
  const what = pullName(image);
  if (!image.digest) return notChecked(what, 'The manifest names a tag, which may move: only a digest can be checked.');
  const authorized = withToken(fetch, image.repository);
  const get: Get = (path) => {
    const headers = { accept: path.startsWith('blobs/') ? '*/*' : MANIFEST_TYPES };
    return ask({ fetch: authorized, url: `${registryAddress(image)}/${path}`, headers, signal });
  };
  const about = { artifact: what, digest: image.digest };
  const outcomes: Outcome[] = [];
  for (const find of [findSignatures, findReferrers]) {
    const found = await find(get, image.digest, verify);
    if ('unavailable' in found) return notChecked(what, found.unavailable);
    outcomes.push(...found);
    if (found.some(({ ok }) => ok)) break;
  }
  return outcomes.length === 0
    ? absent(about, `${image.registry} has no signature for it.`)
    : findingOf(about, outcomes);
}

/** The older form: a manifest under a tag derived from the digest. */
async function findSignatures(get: Get, digest: string, verify: VerifyBundle): Promise<Found> {
  const answer = await get(`manifests/${digest.replace(':', '-')}.sig`);
  if (answer.outcome === 'unavailable') return { unavailable: answer.reason };
  const all = readAs(Manifest, answer)?.layers ?? [];
  const layers = all.filter(({ annotations }) => annotations?.[CERTIFICATE]).slice(0, MOST_SIGNATURES);
  if (layers.length < all.length && layers.length === 0)
    return { unavailable: 'It is signed with a key, and the hub knows no keys of publishers.' };
  const outcomes: Outcome[] = [];
  for (const layer of layers) {
    const payload = await get(`blobs/${layer.digest}`);
    if (payload.outcome === 'unavailable') return { unavailable: payload.reason };
    if (payload.outcome === 'ok') outcomes.push(checkSignature(layer.annotations ?? {}, payload.body, digest, verify));
  }
  return outcomes;
}

/** The newer form: bundles that refer to the image. Registries without the endpoint use a tag instead. */
async function findReferrers(get: Get, digest: string, verify: VerifyBundle): Promise<Found> {
  const listed = await get(`referrers/${digest}`);
  const answer = listed.outcome === 'missing' ? await get(`manifests/${digest.replace(':', '-')}`) : listed;
  if (answer.outcome === 'unavailable') return { unavailable: answer.reason };
  const bundles =
    readAs(Index, answer)?.manifests.filter(({ artifactType = '' }) => BUNDLE_TYPE.test(artifactType)) ?? [];
  const expected = { algorithm: 'sha256' as const, hex: digest.slice('sha256:'.length), predicates: PREDICATES };
  const outcomes: Outcome[] = [];
  for (const bundle of bundles.slice(0, MOST_SIGNATURES)) {
    const manifest = await get(`manifests/${bundle.digest}`);
    if (manifest.outcome === 'unavailable') return { unavailable: manifest.reason };
    const [layer] = readAs(Manifest, manifest)?.layers ?? [];
    const blob = layer && (await get(`blobs/${layer.digest}`));
    if (blob?.outcome === 'unavailable') return { unavailable: blob.reason };
    if (blob?.outcome === 'ok') outcomes.push(checkStatement(blob.document, expected, verify));
  }
  return outcomes;
}

/** The signed content is a small document with the digest of the image. */
function checkSignature(
  annotations: Record<string, string>,
  payload: Buffer,
  digest: string,
  verify: VerifyBundle,
): Outcome {
  return asOutcome(() => {
    const { source } = verify(bundleOf(annotations, payload), payload);
    const { critical } = asObject(parseJson(String(payload)));
    const { image } = asObject(critical);
    if (asObject(image)['docker-manifest-digest'] !== digest) throw new Error('it was made for another image');
    return source;
  });
}

function bundleOf(annotations: Record<string, string>, payload: Buffer): unknown {
  const { SignedEntryTimestamp, Payload } = asObject(parseJson(annotations['dev.sigstore.cosign/bundle'] ?? ''));
  const { body, integratedTime, logIndex, logID } = asObject(Payload);
  const certificate = (annotations[CERTIFICATE] ?? '').replace(/-----[A-Z ]+-----|\s/g, '');
  const { kind, apiVersion } = asObject(parseJson(Buffer.from(String(body), 'base64').toString()));
  return {
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: certificate }] },
      tlogEntries: [
        {
          logIndex: String(logIndex),
          logId: { keyId: Buffer.from(String(logID), 'hex').toString('base64') },
          kindVersion: { kind, version: apiVersion },
          integratedTime: String(integratedTime),
          inclusionPromise: { signedEntryTimestamp: SignedEntryTimestamp },
          canonicalizedBody: body,
        },
      ],
    },
    messageSignature: {
      messageDigest: { algorithm: 'SHA2_256', digest: createHash('sha256').update(payload).digest('base64') },
      signature: annotations['dev.cosignproject.cosign/signature'],
    },
  };
}

function readAs<T>(schema: z.ZodType<T>, answer: Answer): T | undefined {
  return answer.outcome === 'ok' ? schema.safeParse(answer.document).data : undefined;
}
