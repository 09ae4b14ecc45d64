// Builds the review of an entity: its content, and the differences from the last approval.

import { kindNameOf } from '../catalog/artifact-kind.ts';
import type { EntityRecord } from '../catalog/contract.ts';
import { artifactDigest, contentToApprove } from '../catalog/facts.ts';
import { installContentOf } from '../catalog/launch/install-content.ts';
import { launchOf } from '../catalog/launch/launch.ts';
import { launchText, variablesOf } from '../catalog/launch/launch-form.ts';
import { artifactsOf } from '../catalog/launch/package-artifact.ts';
import { parseReference } from '../catalog/uid.ts';
import { asObject, asText, type JsonObject } from '../lib/json.ts';
import { shownAddress } from '../lib/secrets/secret-address.ts';
import { contentChanges, contentOf } from './content.ts';
import type { Reviewed } from './contract.ts';
import type { PolicySubject } from './store.ts';

export function reviewOf(subject: PolicySubject, record: EntityRecord, document: JsonObject): Reviewed {
  const launch = launchOf({
    document,
    mcpRegistration: record.mcp_registration,
    artifacts: artifactsOf(document),
    name: record.name,
    slug: parseReference(record.id)?.slug ?? record.name,
  });
  return {
    publisher: subject.publisher,
    license: subject.license,
    transports: subject.transports,
    launch: launchText(launch),
    artifacts: installContentOf(document).artifacts.map(shownArtifact),
    variables: variablesOf(launch).map(({ name, isRequired, description }) => ({
      name,
      required: isRequired,
      description: description ?? null,
    })),
    content: contentOf(contentToApprove(document, record.mcp_registration)),
  };
}

function shownArtifact(artifact: JsonObject): Reviewed['artifacts'][number] {
  const spec = asObject(artifact.spec);
  const what = asText(spec.package) ?? asText(spec.image) ?? asText(spec.repo) ?? asText(spec.url) ?? '';
  const version = asText(spec.version) ?? asText(spec.tag) ?? asText(spec.ref);
  return {
    kind: kindNameOf(asText(artifact.kind) ?? '', spec),
    what: [shownAddress(what), ...(version ? [version] : [])].join(' '),
    digest: artifactDigest(artifact) ?? null,
  };
}

export type Change = { what: string; before: string; after: string };

/** Lists each fact and value that differs; `none` means that it is missing. */
export function changesBetween(
  before: Reviewed,
  after: Reviewed,
  { isSameContent }: { isSameContent: boolean },
): Change[] {
  const lines: [what: string, of: (reviewed: Reviewed) => string][] = [
    ['publisher', ({ publisher }) => publisher ?? ''],
    ['license', ({ license }) => license ?? ''],
    ['transport', ({ transports }) => transports.join(', ')],
    ['started by', ({ launch }) => launch ?? ''],
    ['artifacts', ({ artifacts }) => artifacts.map(artifactText).join(', ')],
    ['variables', ({ variables }) => variables.map(variableText).join(', ')],
  ];
  const facts = lines.map(([what, of]) => ({ what, before: of(before), after: of(after) }));
  // Earlier versions of the hub stored only the facts with an approval.
  const values = before.content && after.content ? contentChanges(before.content, after.content) : [];
  const changes = [...facts, ...values]
    .map((change) => ({ what: change.what, before: change.before || 'none', after: change.after || 'none' }))
    .filter((change) => change.before !== change.after);
  if (changes.length > 0 || isSameContent) return changes;
  return [
    { what: 'content', before: 'as approved', after: 'changed in a value that is not shown: compare the manifests' },
  ];
}

function artifactText({ kind, what, digest }: Reviewed['artifacts'][number]): string {
  return [kind, what, digest].filter(Boolean).join(' ');
}

function variableText({ name, required }: Reviewed['variables'][number]): string {
  return required ? `${name} (required)` : name;
}
