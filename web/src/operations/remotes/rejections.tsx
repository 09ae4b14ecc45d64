// Refused manifests of a remote: their number, and on request the list with reasons.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { RejectionPage } from '../../../../src/remotes/contract.ts';
import type { HubFailure } from '../../api/failure.ts';
import { hub } from '../../api/hub.ts';
import { asFailure } from '../../api/problem.ts';
import { FailureNotice } from '../../parts/notice.tsx';
import { count, shortNumber } from '../../parts/words.ts';

const MOST_SHOWN = 50;

export function Rejections({ url }: { url: string }) {
  const total = useSignal<number | undefined>(undefined);
  const page = useSignal<RejectionPage | undefined>(undefined);
  const failure = useSignal<HubFailure | undefined>(undefined);
  useEffect(() => {
    hub.rejections(url, 1).then(
      (found) => {
        total.value = found.total;
      },
      // The list can still be requested without the number.
      (error) => {
        failure.value = asFailure(error);
      },
    );
  }, [url]);

  async function load(): Promise<void> {
    failure.value = undefined;
    try {
      page.value = await hub.rejections(url, MOST_SHOWN);
      total.value = page.value.total;
    } catch (error) {
      failure.value = asFailure(error);
    }
  }

  if (!total.value && !failure.value) return null;
  return (
    <details onToggle={(event) => event.currentTarget.open && load()}>
      <summary>Refused manifests{total.value !== undefined && `: ${shortNumber(total.value)}`}</summary>
      {failure.value && <FailureNotice failure={failure.value} onRetry={load} />}
      {page.value && (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard must reach it */}
          <section class="rejections" aria-label={`Refused manifests of ${url}`} tabIndex={0}>
            <ul>
              {page.value.items.map((item) => (
                <li key={item.url}>
                  <span class="address">{item.url}</span>
                  <span class="reason reason-bad">{item.error}</span>
                </li>
              ))}
            </ul>
          </section>
          {page.value.total > page.value.items.length && (
            <p class="quiet">
              The first {page.value.items.length} of {count(page.value.total, 'manifest')}.
            </p>
          )}
        </>
      )}
    </details>
  );
}
