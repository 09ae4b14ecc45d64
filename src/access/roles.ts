// The roles, from lowest to highest. Does not use zod, so that the page can import it.

/** Each role includes the permissions of those before it. */
export const ROLES = ['reader', 'installer', 'publisher', 'operator', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}
