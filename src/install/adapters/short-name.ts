// The name that people call an entity by.
import type { InstallSubject } from '../subject.ts';

/** `io.github.owner/thing` is called `thing`. */
export function shortName({ name, slug }: Pick<InstallSubject, 'name' | 'slug'>): string {
  return name.split('/').findLast((part) => /[A-Za-z0-9]/.test(part)) ?? slug;
}
