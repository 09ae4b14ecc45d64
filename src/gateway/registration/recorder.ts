// Stores outcomes as they arrive; outcomes that arrive during a write are stored together with the next one.
import type { RegistrationRecord, RegistrationStore } from '../store.ts';

/** Resolves to whether the entity still exists. */
export type Recorder = (record: RegistrationRecord) => Promise<boolean>;

interface Waiting {
  record: RegistrationRecord;
  done: PromiseWithResolvers<boolean>;
}

export function createRecorder(store: Pick<RegistrationStore, 'record'>): Recorder {
  let waiting: Waiting[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      await write(group);
    }
    isWriting = false;
  }

  async function write(group: readonly Waiting[]): Promise<void> {
    try {
      const present = await store.record(group.map(({ record }) => record));
      for (const { record, done } of group) done.resolve(present.has(record.uid));
    } catch (error) {
      for (const { done } of group) done.reject(error);
    }
  }

  return (record) => {
    const done = Promise.withResolvers<boolean>();
    waiting.push({ record, done });
    if (!isWriting) void writeAll();
    return done.promise;
  };
}
