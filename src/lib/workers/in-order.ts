// Runs many tasks concurrently and returns their results in the order of the input.
import { createNotifier } from './notifier.ts';

export interface Bounds<Output> {
  /** Maximum concurrent calls. */
  atOnce: number;
  /** Maximum results in progress, or finished but not yet consumed. */
  ahead: number;
  /** The weight of a result, and the total weight of unconsumed results above which no further call starts. */
  weigh: (output: Output) => number;
  mostWeight: number;
  /** How many results are returned at a time; fewer if they are heavy or slow. */
  batch: { size: number; mostWeight: number; mostMs: number };
}

/**
 * Yields the results of `run` in input order, however long each takes. Starts further calls while results are being
 * consumed. A rejection of `run` or `groups` is thrown after the preceding results, and ends the iteration.
 * Inputs and results are grouped, because a promise for each would cost as much as the call itself.
 */
export async function* inOrder<Input, Output>(
  groups: AsyncIterable<Iterable<Input>> | Iterable<Iterable<Input>>,
  { atOnce, ahead, weigh, mostWeight, batch }: Bounds<Output>,
  run: (input: Input) => Promise<Output>,
): AsyncGenerator<Output[]> {
  const outputs: Promise<Output>[] = [];
  const change = createNotifier();
  let [underWay, waitingWeight] = [0, 0];
  let isOver = false;

  const hasRoom = () => underWay < atOnce && outputs.length < ahead && waitingWeight <= mostWeight;

  async function startAll(): Promise<void> {
    for await (const group of groups) {
      for (const input of group) {
        while (!hasRoom() && !isOver) await change.notified();
        if (isOver) return;
        start(input);
      }
    }
  }

  function start(input: Input): void {
    underWay += 1;
    const output = run(input);
    outputs.push(output);
    // The consumer receives the rejection; this only updates the counters.
    output.then(weighIn, endOne);
    change.notify();
  }

  function weighIn(output: Output): void {
    waitingWeight += weigh(output);
    endOne();
  }

  function endOne(): void {
    underWay -= 1;
    change.notify();
  }

  const starting = startAll()
    .then(() => undefined)
    .catch((error: unknown) => ({ error }))
    .finally(() => {
      isOver = true;
      change.notify();
    });
  let taken: Output[] = [];
  let takenWeight = 0;
  let takenSince = performance.now();
  const isFull = () =>
    taken.length >= batch.size || takenWeight >= batch.mostWeight || performance.now() - takenSince >= batch.mostMs;
  try {
    while (outputs.length > 0 || !isOver) {
      const next = outputs.shift();
      if (!next) {
        await change.notified();
        continue;
      }
      let output: Output;
      try {
        output = await next;
      } catch (error) {
        if (taken.length > 0) yield taken;
        throw error;
      }
      const weight = weigh(output);
      waitingWeight -= weight;
      change.notify();
      taken.push(output);
      takenWeight += weight;
      if (!isFull()) continue;
      yield taken;
      taken = [];
      takenWeight = 0;
      takenSince = performance.now();
    }
    const failure = await starting;
    if (taken.length > 0) yield taken;
    if (failure) throw failure.error;
  } finally {
    isOver = true;
    change.notify();
    await starting;
  }
}
