// What a check found, and how checks are run.
import { oneLine } from '../output/text.ts';

export interface Finding {
  outcome: 'ok' | 'warning' | 'failed';
  /** What was found. */
  found: string;
  /** What to do, unless all is well. */
  advice?: string;
}

export interface Check {
  subject: string;
  /** Undefined when there is nothing to look at. */
  look(): Promise<Finding | undefined>;
}

export type SubjectFinding = Finding & { subject: string };

/**
 * One after the other, so that they do not slow each other down; a check that cannot be made has failed.
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
  // It may arrive after the caller stopped waiting.
  promise.catch(() => {});
  return promise;
}

/** Several checks may look at the same thing; it is made for the first of them. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

function failure(error: unknown): Finding {
  const found = oneLine(error instanceof Error ? error.message : String(error));
  return { outcome: 'failed', found, advice: 'The log of the hub may say more.' };
}
