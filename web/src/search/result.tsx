// One result: what it is, and why it is here.
import type { SearchItem } from '../../../src/search/contract.ts';
import { StatusBadge } from '../parts/status-badge.tsx';
import { TypeLabel } from '../parts/type-label.tsx';
import { count } from '../parts/words.ts';
import { entityPath } from '../router.ts';
import { Highlight, HighlightQuotes } from './highlight.tsx';
import { shortReason } from './short-reason.ts';

const MOST_LABELS = 6;

interface ResultProps {
  item: SearchItem;
  query: string;
  /** Whether the reason why it matches may still come. */
  isAwaitingReason: boolean;
}

export function Result({ item, query, isAwaitingReason }: ResultProps) {
  const shown = query === '' ? item.summary : (item.snippet ?? item.summary);
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
      {item.fit_reason !== null && query !== '' && (
        <Reason reason={shortReason(item.fit_reason, shown)} query={query} />
      )}
      {item.fit_reason === null && isAwaitingReason && <p class="reason reason-awaited" aria-hidden="true" />}
      {labels.length > 0 && (
        <ul class="labels" aria-label="Capabilities and tags">
          {labels.map((label) => (
            <li key={label}>{label}</li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** What was not checked, or has no signature, is what people expect. */
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
