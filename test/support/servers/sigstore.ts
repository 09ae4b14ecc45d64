// A Sigstore instance for tests: certificates, a transparency log, and valid or invalid bundles.
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { initializeCA, initializeCTLog, initializeTLog } from '@sigstore/mock';
import type { JsonObject } from '../../../src/lib/json.ts';

const STATEMENT_TYPE = 'application/vnd.in-toto+json';
const REPOSITORY = 'https://github.com/acme/pdf';
const WORKFLOW = `${REPOSITORY}/.github/workflows/release.yml@refs/tags/v1.0.0`;
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const ISSUER = 'https://token.actions.githubusercontent.com';

export interface Authority {
  /** In the format of `trusted_root.json`. */
  root: JsonObject;
  /** Creates a bundle with a statement. */
  attest(statement: JsonObject): Promise<Bundle>;
  /** The signature that cosign stores for a payload. */
  annotate(payload: Buffer): Promise<Record<string, string>>;
}

export type Bundle = JsonObject & {
  dsseEnvelope: { payload: string; payloadType: string; signatures: { sig: string }[] };
  verificationMaterial: { certificate: { rawBytes: string }; tlogEntries: JsonObject[] };
};

interface LogEntry {
  logIndex: number;
  logID: string;
  integratedTime: number;
  body: string;
  verification: {
    signedEntryTimestamp: string;
    inclusionProof: { logIndex: number; treeSize: number; rootHash: string; checkpoint: string };
  };
}

interface AuthorityOptions {
  /** When certificates are issued; each is valid for ten minutes. */
  certificatesAt?: Date;
  repository?: string;
}

export async function startAuthority({ certificatesAt, repository = REPOSITORY }: AuthorityOptions = {}) {
  const keys = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
  const ctlog = await initializeCTLog(keys('prime256v1'));
  const ca = await initializeCA(keys('secp384r1'), ctlog, certificatesAt);
  const tlog = await initializeTLog('https://rekor.test', keys('prime256v1'));

  async function certificate() {
    const { publicKey, privateKey } = keys('prime256v1');
    const extension = (number: number, value: string) => ({ oid: `1.3.6.1.4.1.57264.1.${number}`, value });
    const issued = await ca.issueCertificate({
      publicKey: Buffer.from(publicKey.export({ format: 'der', type: 'spki' })),
      subjectAltName: WORKFLOW,
      extensions: [extension(8, ISSUER), extension(12, repository), extension(13, COMMIT), extension(18, WORKFLOW)],
    });
    return { privateKey, rawBytes: base64(issued) };
  }

  async function logged(kind: string, spec: JsonObject): Promise<LogEntry> {
    const [entry] = Object.values(await tlog.log({ kind, apiVersion: '0.0.1', spec }));
    return entry as LogEntry;
  }

  return {
    root: rootOf(base64(ca.rootCertificate), tlog.publicKey, ctlog.publicKey),

    async attest(statement) {
      const { privateKey, rawBytes } = await certificate();
      const payload = Buffer.from(JSON.stringify(statement));
      const signed = Buffer.from(
        `DSSEv1 ${STATEMENT_TYPE.length} ${STATEMENT_TYPE} ${payload.length} ${payload.toString('latin1')}`,
        'latin1',
      );
      const signature = sign('sha256', signed, privateKey).toString('base64');
      const entry = await logged('dsse', {
        payloadHash: { algorithm: 'sha256', value: sha256(payload) },
        signatures: [{ signature, verifier: '' }],
      });
      const { logIndex, logID, integratedTime, body, verification } = entry;
      const { inclusionProof } = verification;
      return {
        mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
        verificationMaterial: {
          certificate: { rawBytes },
          tlogEntries: [
            {
              logIndex: String(logIndex),
              logId: { keyId: Buffer.from(logID, 'hex').toString('base64') },
              kindVersion: { kind: 'dsse', version: '0.0.1' },
              integratedTime: String(integratedTime),
              inclusionPromise: { signedEntryTimestamp: String(verification.signedEntryTimestamp) },
              inclusionProof: {
                logIndex: String(inclusionProof.logIndex),
                treeSize: String(inclusionProof.treeSize),
                rootHash: Buffer.from(inclusionProof.rootHash, 'hex').toString('base64'),
                hashes: [],
                checkpoint: { envelope: inclusionProof.checkpoint },
              },
              canonicalizedBody: body,
            },
          ],
        },
        dsseEnvelope: {
          payload: payload.toString('base64'),
          payloadType: STATEMENT_TYPE,
          signatures: [{ sig: signature }],
        },
      };
    },

    async annotate(payload) {
      const { privateKey, rawBytes } = await certificate();
      const signature = sign('sha256', payload, privateKey).toString('base64');
      const { logIndex, logID, integratedTime, body, verification } = await logged('hashedrekord', {
        data: { hash: { algorithm: 'sha256', value: sha256(payload) } },
        signature: { content: signature, publicKey: { content: '' } },
      });
      return {
        'dev.cosignproject.cosign/signature': signature,
        'dev.sigstore.cosign/certificate': `-----BEGIN CERTIFICATE-----\n${rawBytes}\n-----END CERTIFICATE-----\n`,
        'dev.sigstore.cosign/bundle': JSON.stringify({
          SignedEntryTimestamp: verification.signedEntryTimestamp,
          Payload: { body, integratedTime, logIndex, logID },
        }),
      };
    },
  } satisfies Authority as Authority;
}

function rootOf(ca: string, tlogKey: Buffer, ctlogKey: Buffer): JsonObject {
  const validFor = { start: '2020-01-01T00:00:00Z' };
  const log = (name: string, key: Buffer) => ({
    baseUrl: `https://${name}.test`,
    hashAlgorithm: 'SHA2_256',
    publicKey: { rawBytes: key.toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
    logId: { keyId: createHash('sha256').update(key).digest('base64') },
  });
  return {
    mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
    tlogs: [log('rekor', tlogKey)],
    ctlogs: [log('ctfe', ctlogKey)],
    certificateAuthorities: [
      {
        subject: { organization: 'sigstore.mock', commonName: 'sigstore' },
        uri: 'https://fulcio.test',
        certChain: { certificates: [{ rawBytes: ca }] },
        validFor,
      },
    ],
    timestampAuthorities: [],
  };
}

function base64(view: ArrayBufferView<ArrayBuffer>): string {
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64');
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
