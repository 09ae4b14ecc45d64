// The browser's storage for the page; if storage is blocked, values are kept in memory until the page is closed.

export interface PageStorage {
  read(key: string): string | undefined;
  write(key: string, value: string): void;
  remove(key: string): void;
}

/** Takes a function, because with blocked cookies even accessing a storage throws. */
export function createStorage(storage: () => Storage): PageStorage {
  const remembered = new Map<string, string>();
  const attempt = <T>(action: (store: Storage) => T): T | undefined => {
    try {
      return action(storage());
    } catch {
      return undefined;
    }
  };
  return {
    read: (key) => remembered.get(key) ?? attempt((store) => store.getItem(key)) ?? undefined,
    write(key, value) {
      remembered.set(key, value);
      attempt((store) => store.setItem(key, value));
    },
    remove(key) {
      remembered.delete(key);
      attempt((store) => store.removeItem(key));
    },
  };
}

/** For this tab. */
export const tabStorage = createStorage(() => sessionStorage);
/** For all visits. */
export const lastingStorage = createStorage(() => localStorage);
