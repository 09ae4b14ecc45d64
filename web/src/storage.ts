// What the browser keeps for the page; where it may keep nothing, the page remembers until it is closed.

export interface Keeper {
  read(key: string): string | undefined;
  write(key: string, value: string): void;
  remove(key: string): void;
}

/** Asked for by a function: where cookies are blocked, even to name a storage throws. */
export function createKeeper(storage: () => Storage): Keeper {
  const remembered = new Map<string, string>();
  const attempt = <T>(action: (place: Storage) => T): T | undefined => {
    try {
      return action(storage());
    } catch {
      return undefined;
    }
  };
  return {
    read: (key) => remembered.get(key) ?? attempt((place) => place.getItem(key)) ?? undefined,
    write(key, value) {
      remembered.set(key, value);
      attempt((place) => place.setItem(key, value));
    },
    remove(key) {
      remembered.delete(key);
      attempt((place) => place.removeItem(key));
    },
  };
}

/** For this tab only. */
export const tabKeeper = createKeeper(() => sessionStorage);
/** For every visit. */
export const lastingKeeper = createKeeper(() => localStorage);
