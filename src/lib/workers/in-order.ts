// Runs many tasks at once and returns their results in the order of the input.

export interface Bounds<Output> {
  /** Most calls that are under way. */
  atOnce: number;
  /** Most results that are under way, or done and not yet taken. */
  ahead: number;
  /** What one result weighs, and how much may wait to be taken before no further call is started. */
  weigh: (output: Output) => number;
  mostWeight: number;
  /** How many results are given at a time; fewer when they weigh so much, or come so slowly. */
  batch: { size: number; mostWeight: number; mostMs: number };
}

/**
 * Yields what `run` gives in the order of the inputs, however long each takes. Further calls are started while the
 * results are being used. A rejection, of `run` or of `groups`, arrives after the results before it and ends it.
 * Inputs come and results go by the group, because a promise for each would cost as much as many a call.
 */
export async function* inOrder<Input, Output>(
  groups: AsyncIterable<Iterable<Input>> | Iterable<Iterable<Input>>,
  { atOnce, ahead, weigh, mostWeight, batch }: Bounds<Output>,
  run: (input: Input) => Promise<Output>,
): AsyncGenerator<Output[]> {
  const outputs: Promise<Output>[] = [];
  const change = createBell();
  let [underWay, waitingWeight] = [0, 0];
  let isOver = false;

  const hasRoom = () => underWay < atOnce && outputs.length < ahead && waitingWeight <= mostWeight;

  async function startAll(): Promise<void> {
    for await (const group of groups) {
      for (const input of group) {
        while (!hasRoom() && !isOver) await change.rung();
        if (isOver) return;
        start(input);
      }
    }
  }

  function start(input: Input): void {
    underWay += 1;
    const output = run(input);
    outputs.push(output);
    // The consumer gets the rejection; this only keeps the count.
    output.then(weighIn, endOne);
    change.ring();
  }

  function weighIn(output: Output): void {
    waitingWeight += weigh(output);
    endOne();
  }

  function endOne(): void {
    underWay -= 1;
    change.ring();
  }

  const starting = startAll()
    .then(() => undefined)
    .catch((error: unknown) => ({ error }))
    .finally(() => {
      isOver = true;
      change.ring();
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
        await change.rung();
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
      change.ring();
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
    change.ring();
    await starting;
  }
}

/** Something to wait for again and again. */
function createBell(): { rung(): Promise<void>; ring(): void } {
  let bell: PromiseWithResolvers<void> | undefined;
  return {
    rung() {
      bell ??= Promise.withResolvers<void>();
      return bell.promise;
    },
    ring() {
      bell?.resolve();
      bell = undefined;
    },
  };
}
