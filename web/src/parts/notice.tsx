// Something that the reader should know, and what to do about it.
import type { ComponentChildren } from 'preact';
import type { HubFailure } from '../api/problem.ts';

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
  /** What happens by itself. */
  children?: ComponentChildren;
}

export function FailureNotice({ failure, onRetry, children }: FailureNoticeProps) {
  return (
    <Notice tone="bad" title={failure.kind === 'unreachable' ? 'No answer' : 'That did not work'}>
      <p>{failure.message}</p>
      {children}
      {failure.requestId && (
        <p class="quiet">
          The hub’s log has more under <code>{failure.requestId}</code>.
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
