// Verifies a Sigstore bundle and returns its signer. Pure: the trusted root is passed in, and no request is made.
import { bundleFromJSON } from '@sigstore/bundle';
import { ASN1Obj } from '@sigstore/core';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { type Signer, toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import type { TrustSignal } from '../catalog/contract.ts';

export type Source = NonNullable<TrustSignal['source']>;

interface Verified {
  source: Source;
  /** The signed in-toto statement, if the bundle contains one. */
  statement: Buffer | undefined;
}

/** `artifact` is the signed content, for a bundle that contains only the signature. @throws Error if the bundle is not valid. */
export type VerifyBundle = (bundle: unknown, artifact?: Buffer) => Verified;

/** @throws Error when the document is not a trusted root. */
export function createVerifyBundle(root: unknown): VerifyBundle {
  const verifier = new Verifier(toTrustMaterial(TrustedRoot.fromJSON(root)));
  return (document, artifact) => {
    const bundle = bundleFromJSON(document);
    const signer = verifier.verify(toSignedEntity(bundle, artifact));
    const envelope = bundle.content.$case === 'dsseEnvelope' ? bundle.content.dsseEnvelope : undefined;
    const isStatement = envelope?.payloadType === STATEMENT_TYPE;
    return { source: sourceOf(signer), statement: isStatement ? Buffer.from(envelope.payload) : undefined };
  };
}

export const STATEMENT_TYPE = 'application/vnd.in-toto+json';

/** Fulcio's certificate extensions, below 1.3.6.1.4.1.57264.1. */
const BUILD_CONFIG = 18;
const REPOSITORY = 12;
const COMMIT = 13;
const FULCIO = '1.3.6.1.4.1.57264.1.';
const LONGEST_TEXT = 500;

function sourceOf({ identity }: Signer): Source {
  const { subjectAlternativeName, extensions, oids = [] } = identity ?? {};
  if (!subjectAlternativeName || !extensions?.issuer) throw new Error('The certificate does not say who signed.');
  const extension = (number: number) => {
    const found = oids.find(({ oid }) => oid?.id.join('.') === `${FULCIO}${number}`);
    return found ? shortened(ASN1Obj.parseBuffer(Buffer.from(found.value)).value.toString('utf8')) : null;
  };
  return {
    repository: extension(REPOSITORY)?.replace(/^https:\/\//, '') ?? null,
    commit: extension(COMMIT),
    workflow: extension(BUILD_CONFIG),
    identity: shortened(subjectAlternativeName),
    issuer: shortened(extensions.issuer),
  };
}

function shortened(text: string): string {
  return text.slice(0, LONGEST_TEXT);
}
