// What callers may do. Needs nothing of zod: the page imports it too.

/** Each may do everything that those before it may. */
export const ROLES = ['reader', 'installer', 'publisher', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
