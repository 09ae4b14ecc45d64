// One result, and why it matches.
import { transportName } from '../../../src/catalog/transport.ts';
import type { SearchItem } from '../../../src/search/contract.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { TypeLabel } from '../parts/type-label.tsx';
import { count, licenseName, onDay } from '../parts/words.ts';
import { entityPath } from '../router.ts';
import { Highlight, HighlightQuotes } from './highlight.tsx';
import { filterPath } from './search-url.ts';
import { saysItAll, shortReason } from './short-reason.ts';

const MOST_LABELS = 6;

interface ResultProps {
  item: SearchItem;
  query: string;
  /** False if nothing matches: a reason would contradict the notice above the results. */
  hasReason: boolean;
  /** Whether the reason may still arrive. */
  isAwaitingReason: boolean;
}

export function Result({ item, query, hasReason, isAwaitingReason }: ResultProps) {
  const shown = query === '' ? item.summary : (item.snippet ?? item.summary);
  const reason = query === '' || item.fit_reason === null ? '' : shortReason(item.fit_reason, shown);
  const labels = [...new Set([...item.capabilities, ...item.tags])].slice(0, MOST_LABELS);
  return (
    <li class="result">
      <p class="result-about">
        <TypeLabel type={item.type} />
        <span class="result-version">{item.version}</span>
        {item.version_count > 1 && <span>{count(item.version_count, 'version')}</span>}
        <StatusBadge status={item.status} />
        <TrustBadge state={item.trust_state} />
      </p>
      <h2 class="result-title">
        <a href={entityPath(item.id)}>
          <Highlight text={item.title ?? item.name} query={query} />
        </a>
      </h2>
      {item.title !== null && item.title !== item.name && <p class="result-name">{item.name}</p>}
      <p class="result-summary">
        <Highlight text={shown} query={query} />
      </p>
      {hasReason && reason !== '' && <Reason reason={reason} query={query} />}
      {hasReason && item.fit_reason === null && isAwaitingReason && !saysItAll(shown, query) && (
        <p class="reason reason-awaited" aria-hidden="true" />
      )}
      <Facts item={item} />
      {labels.length > 0 && (
        <ul class="labels" aria-label="Capabilities and tags">
          {labels.map((label) => (
            <li key={label}>
              <a href={filterPath('capabilities', label)}>{label}</a>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** The facts that people decide by: publisher, transport, license and age. */
function Facts({ item: { publisher, transports = [], license, published_at, created_at } }: { item: SearchItem }) {
  const facts = [
    publisher && `by ${publisher}`,
    ...transports.map(transportName),
    license && licenseName(license),
    published_at ? `updated ${onDay(published_at)}` : `added ${onDay(created_at)}`,
  ].filter((fact) => typeof fact === 'string');
  return facts.length > 0 ? <p class="result-facts">{facts.join(' · ')}</p> : null;
}

/** Unchecked and unsigned entries get no badge, because they are the usual case. */
function TrustBadge({ state }: { state: SearchItem['trust_state'] }) {
  if (state === 'verified') return <span class="badge">signature verified</span>;
  return state === 'failed' ? <span class="badge badge-disabled">signature failed</span> : null;
}

function Reason({ reason, query }: { reason: string; query: string }) {
  return (
    <p class="reason">
      <span class="reason-label">Why it matches</span> <HighlightQuotes text={reason} query={query} />
    </p>
  );
}
