// The result of a check, and the function that runs checks.
import { messageOf } from '../../errors.ts';
import { oneLine } from '../output/text.ts';

export interface Finding {
  outcome: 'ok' | 'warning' | 'failed';
  found: string;
  /** What to do about it; absent if all is well. */
  advice?: string;
}

export interface Check {
  subject: string;
  /** Resolves to undefined if there is nothing to check. */
  look(): Promise<Finding | undefined>;
}

export type SubjectFinding = Finding & { subject: string };

/**
 * Runs the checks sequentially, so that they do not slow each other down. A check that throws counts as failed.
 *
 * @throws AbortError as soon as the signal is aborted.
 */
export async function runChecks(
  checks: readonly Check[],
  { onStart, signal }: { onStart: (subject: string) => void; signal: AbortSignal },
): Promise<SubjectFinding[]> {
  const findings: SubjectFinding[] = [];
  for (const { subject, look } of checks) {
    signal.throwIfAborted();
    onStart(subject);
    const finding = await Promise.race([look().catch(failure), stopOf(signal)]);
    if (finding) findings.push({ subject, ...finding });
  }
  return findings;
}

function stopOf(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  // The promise may reject after the caller stopped waiting.
  promise.catch(() => {});
  return promise;
}

function failure(error: unknown): Finding {
  const found = oneLine(messageOf(error));
  return { outcome: 'failed', found, advice: 'The log of the hub may say more.' };
}
