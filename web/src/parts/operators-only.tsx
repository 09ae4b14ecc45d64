// The frame of operator pages: a heading, and the token form if a token is needed.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { HubFailure } from '../api/failure.ts';
import { areSettingsAsked, needsTokenFor } from '../api/settings.ts';
import { token } from '../api/token.ts';
import { takeFocus } from './take-focus.ts';
import { Account, TokenForm } from './token-form.tsx';
import { Waiting } from './waiting.tsx';

interface OperatorsOnlyProps {
  title: string;
  /** The failure of the last request; cleared by another token. */
  failure: Signal<HubFailure | undefined>;
  /** Content for everyone. */
  open?: ComponentChildren;
  /** Rendered only once requests are allowed. */
  children: ComponentChildren;
}

export function OperatorsOnly({ title, failure, open, children }: OperatorsOnlyProps) {
  useEffect(() => {
    document.title = `${title} · Catalog Hub`;
  }, [title]);
  const isRefused = failure.value?.kind === 'unauthorized';
  const needsToken = needsTokenFor('operator');
  const initial = useRef(token.value);
  const hasSignedInOrOut = useRef(false);
  hasSignedInOrOut.current ||= token.value !== initial.current;
  return (
    <main id="content" class="operations-page">
      <header class="page-head">
        {/* A new heading takes the focus from what was there before another person signed in or out. */}
        <h1 key={token.value} ref={hasSignedInOrOut.current ? takeFocus : null} tabIndex={-1}>
          {title}
        </h1>
        <Account />
      </header>
      {open}
      {!areSettingsAsked.value && <Waiting>Loading…</Waiting>}
      {areSettingsAsked.value && !needsToken && !isRefused && children}
      {areSettingsAsked.value && (needsToken || isRefused) && (
        <section class="panel" aria-labelledby="token">
          <h2 id="token">Operators only</h2>
          <TokenForm
            neededRole="operator"
            isRefused={isRefused}
            why="This page needs a token."
            onKept={() => {
              failure.value = undefined;
            }}
          />
        </section>
      )}
    </main>
  );
}
