// Caches a complete read for one revision of the registry.

/** Returns the data of this revision or a later one. Only one read runs at a time; concurrent calls share it or the next one. */
export function createSnapshot<T>(read: () => Promise<T>): (revision: number) => Promise<T> {
  let current: { revision: number; value: Promise<T>; isOver: boolean } | undefined;
  let next: { revision: number; value: Promise<T> } | undefined;

  function begin(revision: number): Promise<T> {
    const reading = { revision, value: read(), isOver: false };
    current = reading;
    const end = () => {
      reading.isOver = true;
    };
    reading.value.then(end, () => {
      end();
      if (current === reading) current = undefined;
    });
    return reading.value;
  }

  async function afterThis(running: Promise<T>): Promise<T> {
    await running.catch(() => undefined);
    const revision = next?.revision ?? 0;
    next = undefined;
    return begin(revision);
  }

  return (revision) => {
    if (current && current.revision >= revision) return current.value;
    if (!current || current.isOver) return begin(revision);
    next ??= { revision, value: afterThis(current.value) };
    next.revision = Math.max(next.revision, revision);
    return next.value;
  };
}
