// The content of a manifest: artifacts, adapters, its source, and the document itself.
import { useSignal } from '@preact/signals';
import { artifactLine } from '../../../src/catalog/artifact-kind.ts';
import { adapterLine } from '../../../src/catalog/client-config.ts';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { contentsOf } from '../../../src/catalog/launch/contents.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { withoutCredentials } from '../../../src/lib/secrets/credentials.ts';
import { shownAddress } from '../../../src/lib/secrets/secret-address.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { manifestPath } from '../api/manifest-path.ts';
import { asFailure } from '../api/problem.ts';
import { safeLink } from '../markdown/safe-link.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { atMoment } from '../parts/words.ts';

export function Artifacts({ entity, manifest }: { entity: EntityRecord; manifest: JsonObject }) {
  const { artifacts, command } = contentsOf(entity, manifest);
  const lines = [...artifacts.map(artifactLine), ...entity.adapters.map(adapterLine)];
  if (lines.length === 0 && command === null) return null;
  return (
    <section class="panel" aria-labelledby="artifacts">
      <h2 id="artifacts">What it installs</h2>
      <ul class="parts">
        {lines.map((line, index) => (
          <li key={index}>{line}</li>
        ))}
        {command !== null && (
          <li>
            Runs <code>{command}</code>
          </li>
        )}
      </ul>
    </section>
  );
}

export function Provenance({ entity }: { entity: EntityRecord }) {
  const { provenance, source_url, missing_since, id } = entity;
  const source = source_url && shownAddress(source_url);
  const link = source && safeLink(source);
  const values = [...flat(provenance)];
  if (missing_since) values.push(['not listed since', atMoment(missing_since)]);
  return (
    <section class="panel" aria-labelledby="provenance">
      <h2 id="provenance">Where it comes from</h2>
      {source ? (
        <p>
          Manifest read from{' '}
          {link ? (
            <a class="address" href={link} rel="noopener noreferrer nofollow ugc">
              {source}
            </a>
          ) : (
            <span class="address">{source}</span>
          )}
        </p>
      ) : (
        <p>
          {entity.remote
            ? 'Its manifest is part of the remote’s index.'
            : 'Its manifest was added to this hub directly.'}
        </p>
      )}
      <Values of={values} />
      <RawManifest id={id} />
    </section>
  );
}

function RawManifest({ id }: { id: string }) {
  const text = useSignal<string | undefined>(undefined);
  const failure = useSignal<HubFailure | undefined>(undefined);

  async function load(): Promise<void> {
    failure.value = undefined;
    try {
      text.value ??= await hub.manifest(id);
    } catch (error) {
      failure.value = asFailure(error);
    }
  }

  return (
    <details class="manifest" onToggle={(event) => event.currentTarget.open && load()}>
      <summary>Manifest</summary>
      {failure.value && <FailureNotice failure={failure.value} onRetry={load} />}
      {text.value !== undefined && <CopyBox text={text.value} label="the manifest" />}
      <p class="quiet">
        Also at <a href={manifestPath(id)}>{manifestPath(id)}</a>
      </p>
    </details>
  );
}

function Values({ of }: { of: [name: string, value: string][] }) {
  if (of.length === 0) return null;
  return (
    <dl class="values">
      {of.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Plain words for the keys that registries use. */
const NAMES: Record<string, string> = {
  registry_base_url: 'registry',
  server_name: 'name in the registry',
  server_version: 'version in the registry',
  identity_key: 'registry key',
  published_at: 'published',
  updated_at: 'updated',
};

/** Omits secrets. */
function flat(value: unknown): [string, string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(withoutCredentials(value))
    .filter(([, each]) => each !== null && each !== '')
    .map(([name, each]) => [NAMES[name] ?? name.replaceAll('_', ' '), wordsOf(each)]);
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
