// A notice for the reader, with advice.
import type { ComponentChildren } from 'preact';
import type { FailureKind, HubFailure } from '../api/failure.ts';

export interface NoticeProps {
  tone?: 'plain' | 'good' | 'warn' | 'bad';
  title: string;
  children?: ComponentChildren;
}

export function Notice({ tone = 'plain', title, children }: NoticeProps) {
  return (
    <div class={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <p class="notice-title">{title}</p>
      {children}
    </div>
  );
}

export interface FailureNoticeProps {
  failure: HubFailure;
  onRetry?: () => void;
  /** What happens automatically next. */
  children?: ComponentChildren;
}

const TITLES: Partial<Record<FailureKind, string>> = {
  unreachable: 'No answer',
  unreadable: 'Unexpected response',
  page: 'Page error',
};

export function FailureNotice({ failure, onRetry, children }: FailureNoticeProps) {
  return (
    <Notice tone="bad" title={TITLES[failure.kind] ?? 'That did not work'}>
      <p>{failure.message}</p>
      {children}
      {failure.requestId && (
        <p class="quiet">
          For details, look for <code>{failure.requestId}</code> in the hub’s log.
        </p>
      )}
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </Notice>
  );
}
