// Things done at once, none of which goes on when one has failed.

/**
 * As `Promise.all`, but it rejects only when all of them have ended, with the first failure among them: whoever lets go of a
 * folder then knows that nobody uses it any more.
 */
export async function allEnded(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}

/** Begun all at once, tens of thousands would keep everybody else waiting, and take hundreds of megabytes. */
const MOST_AT_ONCE = 64;

/** The same for any number of things: a few at a time, and none is begun after one has failed. */
export async function allEndedOf<T>(things: readonly T[], work: (thing: T) => Promise<unknown>): Promise<void> {
  for (let begin = 0; begin < things.length; begin += MOST_AT_ONCE)
    await allEnded(things.slice(begin, begin + MOST_AT_ONCE).map(work));
}
