// The facts about an entity besides its text: properties, links, quality, versions.
import { Fragment } from 'preact';
import type { EntityRecord } from '../../../src/catalog/contract.ts';
import { transportName, transportsOf } from '../../../src/catalog/transport.ts';
import { safeLink } from '../markdown/safe-link.ts';
import { CheckIcon, DashIcon, ExternalLinkIcon } from '../parts/icons.tsx';
import { StatusBadge } from '../parts/status-badge.tsx';
import { ago, atMoment, licenseName, onDay } from '../parts/words.ts';
import { entityPath } from '../router.ts';
import { type Filter, filterPath } from '../search/search-url.ts';

/** Further ones are collapsed. */
const MANY = 12;

export function Facts({ entity }: { entity: EntityRecord }) {
  const { license, published_at, created_at, capabilities, frameworks, providers, tags } = entity;
  const publisher = entity.name.includes('/') ? entity.name.slice(0, entity.name.indexOf('/')) : '';
  return (
    <section class="side" aria-labelledby="facts">
      <h2 id="facts">At a glance</h2>
      <dl class="facts">
        <Fact name="Version" value={entity.version} />
        {publisher !== '' && <Fact name="Publisher" value={publisher} />}
        <Fact name="Transport" value={transportsOf(entity.mcp_registration).map(transportName).join(', ')} />
        <Fact name="License" value={license ? licenseName(license) : 'not specified'} />
        {published_at && <Fact name="Updated" value={onDay(published_at)} title={ago(published_at)} />}
        <Fact name="Added" value={onDay(created_at)} title={atMoment(created_at)} />
        {entity.approval?.state === 'approved' && <Fact name="Approval" value="approved" />}
        <Remotes entity={entity} />
        <Words name="Capabilities" words={capabilities} filter="capabilities" />
        <Words name="Frameworks" words={frameworks} filter="frameworks" />
        <Words name="Providers" words={providers} filter="providers" />
        <Words name="Tags" words={tags} filter="capabilities" />
      </dl>
      <Links entity={entity} />
    </section>
  );
}

/** The remote whose manifest is shown, and the others that list the same entry. */
function Remotes({ entity: { remote, remote_name, listed_by } }: { entity: EntityRecord }) {
  const others = listed_by.filter((each) => each !== remote);
  return (
    <>
      {remote && <Addresses name="Remote" title={remote_name} addresses={[remote]} />}
      {others.length > 0 && <Addresses name="Also listed by" addresses={others} />}
    </>
  );
}

interface AddressesProps {
  name: string;
  title?: string | null;
  addresses: readonly string[];
}

function Addresses({ name, title, addresses }: AddressesProps) {
  return (
    <div>
      <dt>{name}</dt>
      {title && <dd>{title}</dd>}
      {addresses.map((address) => (
        <dd key={address} class="address" title={address}>
          {address.replace(/^https?:\/\//, '')}
        </dd>
      ))}
    </div>
  );
}

function Fact({ name, value, title }: { name: string; value: string; title?: string }) {
  if (value === '') return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd title={title}>{value}</dd>
    </div>
  );
}

function Words({ name, words, filter }: { name: string; words: readonly string[]; filter: Filter }) {
  if (words.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {linked(words.slice(0, MANY), filter)}
        {words.length > MANY && (
          <details>
            <summary>{words.length - MANY} more</summary>
            <p>{linked(words.slice(MANY), filter)}</p>
          </details>
        )}
      </dd>
    </div>
  );
}

/** Links each value to a search for other entries with it. */
function linked(words: readonly string[], filter: Filter) {
  return words.map((word, index) => (
    <Fragment key={word}>
      {index > 0 && ', '}
      <a href={filterPath(filter, word)}>{word}</a>
    </Fragment>
  ));
}

function Links({ entity: { links, homepage } }: { entity: EntityRecord }) {
  const named = Object.entries({ ...(homepage ? { homepage } : {}), ...links });
  const safe = named.flatMap(([name, address]) => {
    const url = safeLink(address);
    return url ? [{ name, url }] : [];
  });
  if (safe.length === 0) return null;
  return (
    <ul class="links">
      {safe.map(({ name, url }) => (
        <li key={name}>
          <a href={url} rel="noopener noreferrer nofollow ugc">
            {name.replaceAll(/[_-]/g, ' ')} <ExternalLinkIcon />
          </a>
          <span class="links-host">{hostAndPath(url)}</span>
        </li>
      ))}
    </ul>
  );
}

function hostAndPath(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`.replace(/\/$/, '');
}

export function Quality({ entity: { quality, score_quality } }: { entity: EntityRecord }) {
  const percent = Math.round(score_quality * 100);
  return (
    <section class="side" aria-labelledby="quality">
      <h2 id="quality">How well it is described</h2>
      <p class="quality-score">
        <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-whole" width="100" height="8" />
          <rect class="bar-part" width={percent} height="8" />
        </svg>
        <span>{percent} of 100</span>
      </p>
      <ul class="reasons">
        {quality.map(({ reason, weight, met }) => (
          <li key={reason} class={met ? 'met' : 'unmet'}>
            {met ? <CheckIcon /> : <DashIcon />}
            <span>
              <span class="unseen">{met ? 'Yes: ' : 'No: '}</span>
              {reason}
            </span>
            <span class="reasons-weight">{Math.round(weight * 100)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

export function Versions({ entity: { versions, id } }: { entity: EntityRecord }) {
  // Catalogs may list one version of a name under several ids, which differ at their end.
  const isAmbiguous = (version: string) => versions.filter((each) => each.version === version).length > 1;
  const list = (some: EntityRecord['versions']) => (
    <ul class="versions">
      {some.map((each) => (
        <li key={each.id}>
          <a href={entityPath(each.id)} aria-current={each.id === id ? 'page' : undefined}>
            {each.version}
          </a>
          {isAmbiguous(each.version) && <span class="versions-slug">{slugEnd(each.id)}</span>}
          <StatusBadge status={each.status} />
          {each.prerelease && <span class="badge">pre-release</span>}
          {each.blocked && <span class="badge badge-disabled">blocked</span>}
          {each.missing && <span class="badge">no longer listed</span>}
        </li>
      ))}
    </ul>
  );
  return (
    <section class="side" aria-labelledby="versions">
      <h2 id="versions">Versions</h2>
      {list(versions.slice(0, MANY))}
      {versions.length > MANY && (
        <details>
          <summary>{versions.length - MANY} older versions</summary>
          {list(versions.slice(MANY))}
        </details>
      )}
    </section>
  );
}

function slugEnd(id: string): string {
  return (
    id
      .replace(/@[^@]*$/, '')
      .split(/[:./]/)
      .at(-1) ?? id
  );
}
