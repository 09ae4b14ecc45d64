// Things done at once, none of which goes on when one has failed.

/**
 * As `Promise.all`, but it rejects only when all of them have ended, with the first failure among them: whoever lets go of a
 * folder then knows that nobody uses it any more.
 */
export async function allEnded(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
