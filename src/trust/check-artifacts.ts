// Checks the artifacts of an entity and returns one signal for each. Loaded on demand, because it needs large libraries.
import { readFile } from 'node:fs/promises';
import { type KindName, kindNameOf } from '../catalog/artifact-kind.ts';
import type { TrustSignal } from '../catalog/contract.ts';
import { installContentOf } from '../catalog/launch/install-content.ts';
import { signalOf } from '../catalog/trust-signals.ts';
import { asObject, asText, type JsonObject } from '../lib/json.ts';
import { type CheckContext, type Finding, notChecked } from './finding.ts';
import { checkImage } from './image.ts';
import { checkNpm } from './npm.ts';
import { checkPypi } from './pypi.ts';
import { createVerifyBundle, type VerifyBundle } from './sigstore.ts';
import publicRoot from './trusted-root.json' with { type: 'json' };

type Check = (artifact: JsonObject, context: CheckContext) => Promise<Finding>;

const CHECKS: Partial<Record<KindName, Check>> = { npm: checkNpm, pypi: checkPypi, oci: checkImage };
/** Further artifacts are reported as not checked. */
const MOST_ARTIFACTS = 10;

export type CheckSettings = Omit<CheckContext, 'verify'> & {
  /** Replaces the root of the public instance. */
  rootFile: string | undefined;
};

export async function checkArtifacts(document: JsonObject, settings: CheckSettings): Promise<TrustSignal[]> {
  const { rootFile, ...rest } = settings;
  const verify = await openVerifier(rootFile);
  const artifacts = installContentOf(document).artifacts.map((artifact) => ({
    artifact,
    kind: kindNameOf(asText(artifact.kind) ?? '', asObject(artifact.spec)),
  }));
  const signals: TrustSignal[] = [];
  for (const { artifact, kind } of artifacts.filter((each) => each.kind !== 'remote')) {
    const check = signals.length < MOST_ARTIFACTS ? CHECKS[kind] : undefined;
    const finding =
      verify && check ? await check(artifact, { ...rest, verify }) : unchecked(kind, verify !== undefined);
    signals.push({ signal: signalOf(kind), ...finding });
  }
  return signals;
}

/** Reads the file for each check, so that it can be updated; undefined if it is not usable. */
async function openVerifier(rootFile: string | undefined): Promise<VerifyBundle | undefined> {
  try {
    return createVerifyBundle(rootFile === undefined ? publicRoot : JSON.parse(await readFile(rootFile, 'utf8')));
  } catch {
    return undefined;
  }
}

function unchecked(kind: KindName, isRootUsable: boolean): Finding {
  if (!isRootUsable) return notChecked(kind, 'The file that TRUST_ROOT_FILE names cannot be used as a trusted root.');
  if (CHECKS[kind]) return notChecked(kind, `It is not among the first ${MOST_ARTIFACTS} artifacts.`);
  return notChecked(kind, 'Only npm packages, Python packages and images can be checked.');
}
