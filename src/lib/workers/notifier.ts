// An event that can be awaited repeatedly.

export interface Notifier {
  notified(): Promise<void>;
  notify(): void;
}

export function createNotifier(): Notifier {
  let waiting: PromiseWithResolvers<void> | undefined;
  return {
    notified() {
      waiting ??= Promise.withResolvers<void>();
      return waiting.promise;
    },
    notify() {
      waiting?.resolve();
      waiting = undefined;
    },
  };
}
