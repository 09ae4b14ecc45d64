// Many things at once, their results in the order in which they came in.

export interface Bounds<Output> {
  /** Most calls that are under way, or done and not yet taken. */
  atOnce: number;
  /** What one result weighs, and how much may wait to be taken before no further call is started. */
  weigh: (output: Output) => number;
  mostWeight: number;
}

/** Yields what `run` gives in the order of `inputs`, however long each takes. `run` must not reject. */
export async function* inOrder<Input, Output>(
  inputs: AsyncIterable<Input> | Iterable<Input>,
  { atOnce, weigh, mostWeight }: Bounds<Output>,
  run: (input: Input) => Promise<Output>,
): AsyncGenerator<Output> {
  const underWay: Promise<Output>[] = [];
  let waiting = 0;

  function start(input: Input): void {
    const output = run(input);
    underWay.push(output);
    output.then((done) => {
      waiting += weigh(done);
    });
  }

  async function next(): Promise<Output> {
    const output = await (underWay.shift() as Promise<Output>);
    waiting -= weigh(output);
    return output;
  }

  for await (const input of inputs) {
    while (underWay.length >= atOnce || (waiting > mostWeight && underWay.length > 0)) yield await next();
    start(input);
  }
  while (underWay.length > 0) yield await next();
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
