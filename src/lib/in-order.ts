// Many things at once, their results in the order in which they came in.

export interface Bounds<Output> {
  /** Most calls that are under way. */
  atOnce: number;
  /** Most results that are under way, or done and not yet taken. */
  ahead: number;
  /** What one result weighs, and how much may wait to be taken before no further call is started. */
  weigh: (output: Output) => number;
  mostWeight: number;
}

/**
 * Yields what `run` gives in the order of `inputs`, however long each takes. Further calls are started while the
 * results are being used. A rejection, of `run` or of `inputs`, arrives in its turn and ends it.
 */
export async function* inOrder<Input, Output>(
  inputs: AsyncIterable<Input> | Iterable<Input>,
  { atOnce, ahead, weigh, mostWeight }: Bounds<Output>,
  run: (input: Input) => Promise<Output>,
): AsyncGenerator<Output> {
  const outputs: Promise<Output>[] = [];
  const change = createBell();
  let [underWay, waitingWeight] = [0, 0];
  let isOver = false;

  const hasRoom = () => underWay < atOnce && outputs.length < ahead && waitingWeight <= mostWeight;

  async function startAll(): Promise<void> {
    for await (const input of inputs) {
      while (!hasRoom() && !isOver) await change.rung();
      if (isOver) return;
      start(input);
    }
  }

  function start(input: Input): void {
    underWay += 1;
    const output = run(input);
    outputs.push(output);
    const ended = (weight: number) => {
      waitingWeight += weight;
      underWay -= 1;
      change.ring();
    };
    // Whoever takes it gets the rejection; this is only about the count.
    output.then(
      (done) => ended(weigh(done)),
      () => ended(0),
    );
    change.ring();
  }

  const starting = startAll()
    .then(() => undefined)
    .catch((error: unknown) => ({ error }))
    .finally(() => {
      isOver = true;
      change.ring();
    });
  try {
    while (outputs.length > 0 || !isOver) {
      const next = outputs.shift();
      if (!next) {
        await change.rung();
        continue;
      }
      const output = await next;
      waitingWeight -= weigh(output);
      change.ring();
      yield output;
    }
    const failure = await starting;
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

/** Groups of up to `size` that weigh about `mostWeight` at most, the last one smaller. */
export async function* inBatches<Input>(
  inputs: AsyncIterable<Input>,
  { size, weigh, mostWeight }: { size: number; weigh: (input: Input) => number; mostWeight: number },
): AsyncGenerator<Input[]> {
  let batch: Input[] = [];
  let weight = 0;
  for await (const input of inputs) {
    batch.push(input);
    weight += weigh(input);
    if (batch.length < size && weight < mostWeight) continue;
    yield batch;
    batch = [];
    weight = 0;
  }
  if (batch.length > 0) yield batch;
}
