// The page of one entity.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { EntityRecord, EntityRemoved } from '../../../src/catalog/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure, isAborted } from '../api/problem.ts';
import { Signatures } from '../governance/signatures.tsx';
import { InstallDialog } from '../install/install-dialog.tsx';
import { CopyButton } from '../parts/copy-box.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { TYPES, TypeLabel } from '../parts/type-label.tsx';
import { Waiting } from '../parts/waiting.tsx';
import { lastPath } from '../search/search-state.ts';
import { isWiderThan } from '../window-width.ts';
import { Artifacts, Provenance } from './contents.tsx';
import { Facts, Quality, Versions } from './facts.tsx';
import { Manage } from './manage.tsx';
import { Notices } from './notices.tsx';
import { Readme } from './readme.tsx';
import { Registration } from './registration.tsx';
import { Removed } from './removed.tsx';
import { Tools } from './tools.tsx';
import { UseIt } from './use/use-it.tsx';
import { useManifest } from './use-manifest.ts';

const isWide = isWiderThan(60);

/** A restarting hub is back within seconds. */
const ASK_AGAIN_MS = 3_000;

export function EntityPage({ id }: { id: string }) {
  const entity = useSignal<EntityRecord | undefined>(undefined);
  const removal = useSignal<EntityRemoved | undefined>(undefined);
  const failure = useSignal<HubFailure | undefined>(undefined);
  const tries = useSignal(0);

  useEffect(() => {
    failure.value = undefined;
    removal.value = undefined;
  }, [id]);
  useEffect(() => {
    const running = new AbortController();
    hub.entity(id, running.signal).then(
      (found) => {
        failure.value = undefined;
        entity.value = found;
        document.title = `${found.title ?? found.name} ${found.version} · Catalog Hub`;
      },
      (error) => {
        if (!isAborted(error)) failure.value = asFailure(error);
      },
    );
    return () => running.abort();
  }, [id, tries.value]);
  useEffect(() => {
    const retry = () => {
      if (failure.value) tries.value += 1;
    };
    const timer = setInterval(() => {
      if (failure.value?.kind === 'unreachable' && navigator.onLine && !document.hidden) retry();
    }, ASK_AGAIN_MS);
    addEventListener('online', retry);
    return () => {
      clearInterval(timer);
      removeEventListener('online', retry);
    };
  }, []);

  return (
    <main id="content" class="entity-page">
      {failure.value?.kind === 'not_found' && <NotFound id={id} />}
      {failure.value && failure.value.kind !== 'not_found' && (
        <div class="entity-head">
          <h1>{id}</h1>
          <FailureNotice
            failure={failure.value}
            onRetry={() => {
              tries.value += 1;
            }}
          >
            {failure.value.kind === 'unreachable' && <p>It appears as soon as the hub answers.</p>}
          </FailureNotice>
        </div>
      )}
      {!entity.value && !failure.value && <Waiting>Loading…</Waiting>}
      {removal.value && <Removed removal={removal.value} />}
      {entity.value && !failure.value && !removal.value && (
        <Entity
          key={entity.value.id}
          entity={entity.value}
          onChange={(changed) => {
            entity.value = changed;
          }}
          onRemove={(removed) => {
            removal.value = removed;
          }}
        />
      )}
    </main>
  );
}

interface EntityProps {
  entity: EntityRecord;
  onChange: (changed: EntityRecord) => void;
  onRemove: (removal: EntityRemoved) => void;
}

function Entity(props: EntityProps) {
  const { entity } = props;
  const isInstalling = useSignal(false);
  const manifest = useManifest(entity.id);
  const heading = useRef<HTMLHeadingElement>(null);
  // Keyboard and screen reader users start at the name.
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  const install = () => {
    isInstalling.value = true;
  };
  return (
    <>
      <header class="entity-head">
        <Breadcrumbs entity={entity} />
        <p class="result-about">
          <TypeLabel type={entity.type} />
          <span class="result-version">{entity.version}</span>
          <StatusBadge status={entity.status} />
        </p>
        <h1 ref={heading} tabIndex={-1}>
          {entity.title ?? <Breakable name={entity.name} />}
        </h1>
        <p class="entity-id">
          <code>{entity.id}</code>
          <CopyButton text={entity.id} label="Copy the id" />
        </p>
        <p class="entity-summary">{entity.summary}</p>
      </header>
      <Notices entity={entity} />
      <div class="entity-body">
        <div class="entity-main">
          {entity.description !== '' && entity.description !== entity.summary && (
            <section class="panel" aria-labelledby="description">
              <h2 id="description">What it does</h2>
              <p class="description">{entity.description}</p>
            </section>
          )}
          {entity.blocked_at === null && !entity.install_refusal && (
            <UseIt entity={entity} manifest={manifest} onInstall={install} />
          )}
          <Tools manifest={manifest} />
          {/* Keyboards and screen readers follow the document order, so it must match the visual order. */}
          {!isWide.value && <Aside {...props} />}
          {entity.readme && <Readme text={entity.readme} repository={entity.links.repository} />}
          <Artifacts entity={entity} manifest={manifest} />
          <Registration entity={entity} />
          <Provenance entity={entity} />
        </div>
        {isWide.value && <Aside {...props} />}
      </div>
      {isInstalling.value && (
        <InstallDialog
          entity={entity}
          onClose={() => {
            isInstalling.value = false;
          }}
        />
      )}
    </>
  );
}

/** May wrap after its separators, so that words stay whole on a phone. */
function Breakable({ name }: { name: string }) {
  return name.split(/(?<=[/.-])/).flatMap((part, index) => (index === 0 ? [part] : [<wbr key={index} />, part]));
}

function Breadcrumbs({ entity: { type, title, name } }: { entity: EntityRecord }) {
  return (
    <nav class="breadcrumbs" aria-label="Breadcrumbs">
      <a href={lastPath.value}>Search</a>
      <a href={`/?type=${type}`}>{TYPES[type].many}</a>
      <span aria-current="page">{title ?? name}</span>
    </nav>
  );
}

/** Beside the content in a wide window; otherwise after the instructions, before the readme. */
function Aside(props: EntityProps) {
  const { entity, onChange } = props;
  return (
    <aside class="entity-side" aria-label="About it">
      <Facts entity={entity} />
      {entity.trust && (
        <section class="side" aria-labelledby="signatures">
          <h2 id="signatures">Signatures</h2>
          <Signatures id={entity.id} trust={entity.trust} onChecked={(trust) => onChange({ ...entity, trust })} />
        </section>
      )}
      <Quality entity={entity} />
      <Versions entity={entity} />
      <Manage {...props} />
    </aside>
  );
}

function NotFound({ id }: { id: string }) {
  useEffect(() => {
    document.title = 'Entry not found · Catalog Hub';
  }, []);
  const words = id
    .replace(/^\w+:/, '')
    .replace(/@[^@]*$/, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ');
  return (
    <div class="entity-head">
      <h1>Entry not found</h1>
      <p>
        The catalog has no entry <code>{id}</code>. It may have been removed, or the address may be incomplete.
      </p>
      <p>
        <a href={`/?${new URLSearchParams({ q: words.trim() })}`}>Search for “{words.trim()}”</a>
      </p>
    </div>
  );
}
