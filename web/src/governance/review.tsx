// The details of an entity that a reviewer needs.
import type { ComponentChildren } from 'preact';
import { byWhom } from '../../../src/access/audit-for-people.ts';
import { kindLabel } from '../../../src/catalog/artifact-kind.ts';
import { transportName } from '../../../src/catalog/transport.ts';
import type { ApprovalReview } from '../../../src/policy/contract.ts';
import { safeLink } from '../markdown/safe-link.ts';
import { onDay } from '../parts/words.ts';
import { entityPath } from '../router.ts';
import { review, selectedId, showTrust } from './approvals-state.ts';
import { Signatures } from './signatures.tsx';

const DONE = { search: 'found', install: 'installed', register: 'registered' };

export function Review() {
  const shown = review.value;
  if (!shown) return selectedId.value === undefined ? null : <p class="quiet">Loading…</p>;
  const source = shown.repository ?? shown.source_url;
  return (
    <>
      <h2>
        <a href={entityPath(shown.id)}>{shown.title ?? shown.name}</a>{' '}
        <span class="result-version">{shown.version}</span>
      </h2>
      <p>
        <code>{shown.id}</code>
      </p>
      <p>{shown.summary}</p>
      <Decided shown={shown} />
      <Changes shown={shown} />
      <dl class="facts">
        <Fact name="Publisher">{shown.publisher ?? 'not specified'}</Fact>
        <Fact name="Remote">{shown.remote ?? 'none'}</Fact>
        {source && <Fact name="Source">{safeLink(source) ? <a href={safeLink(source)}>{source}</a> : source}</Fact>}
        <Fact name="Digest">
          <code>{shown.digest}</code>
        </Fact>
        <Fact name="License">{shown.license ?? 'not specified'}</Fact>
        {shown.published_at && <Fact name="Updated">{onDay(shown.published_at)}</Fact>}
        <Fact name="Transport">{shown.transports.map(transportName).join(', ') || 'not specified'}</Fact>
        {shown.launch && (
          <Fact name="Runs">
            <code>{shown.launch}</code>
          </Fact>
        )}
        <Fact name="Needs approval">
          {shown.asked_by.map(({ action, decided_by }) => `to be ${DONE[action]} (${decided_by})`).join(', ') || 'no'}
        </Fact>
      </dl>
      <Artifacts artifacts={shown.artifacts} />
      {shown.trust && (
        <section aria-label="Signatures">
          <h3>Signatures</h3>
          <Signatures
            key={shown.id}
            id={shown.id}
            trust={shown.trust}
            onChecked={(trust) => showTrust(shown.id, trust)}
          />
        </section>
      )}
      <Variables variables={shown.variables} />
      <Content content={shown.content} />
    </>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Decided({ shown: { decision } }: { shown: ApprovalReview }) {
  if (!decision) return null;
  const why = decision.reason ? `: ${decision.reason}` : '';
  return (
    <p>
      {decision.decision} {byWhom(decision.decided_by)} on {onDay(decision.decided_at)}
      {why}
    </p>
  );
}

function Changes({ shown: { since } }: { shown: ApprovalReview }) {
  if (!since) return <p class="quiet">No version has been approved before.</p>;
  return (
    <section aria-label="Changes">
      <h3>Changes since {since.id} was approved</h3>
      {since.changes.length === 0 && <p>Its content has not changed.</p>}
      <dl class="changes">
        {since.changes.map(({ what, before, after }) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              <del>{before}</del> <ins>{after}</ins>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Artifacts({ artifacts }: Pick<ApprovalReview, 'artifacts'>) {
  if (artifacts.length === 0) return null;
  return (
    <>
      <h3>What it installs</h3>
      <ul class="plain-list">
        {artifacts.map(({ kind, what, digest }) => (
          <li key={`${kind} ${what}`}>
            {kindLabel(kind)} <code>{what}</code>{' '}
            {kind !== 'remote' && <span class="quiet">{digest ?? 'no digest'}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}

function Variables({ variables }: Pick<ApprovalReview, 'variables'>) {
  if (variables.length === 0) return null;
  return (
    <>
      <h3>Variables it needs</h3>
      <ul class="plain-list">
        {variables.map(({ name, required, description }) => (
          <li key={name}>
            <code>{name}</code> {required && <span>required</span>} <span class="quiet">{description}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Content({ content = [] }: Pick<ApprovalReview, 'content'>) {
  if (content.length === 0) return null;
  return (
    <details>
      <summary>All content ({content.length} values)</summary>
      <ul class="plain-list">
        {content.map(({ path, value }) => (
          <li key={path}>
            <span class="quiet">{path}</span> <code>{value}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
