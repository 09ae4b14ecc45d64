// The roles and what they may do. Does not use zod, so that the page can import it.

/** Each may do everything that those before it may. */
export const ROLES = ['reader', 'installer', 'publisher', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
