// Ports: what access needs from a database.
import type { AuditEntry, AuditQuery, Role } from './contract.ts';

export interface StoredToken {
  name: string;
  role: Role;
  scope: string[];
  createdAt: string;
  createdBy: string;
  expiresAt: string | null;
}

export interface TokenStore {
  /** False when the name is taken. */
  add(token: StoredToken, digest: string): Promise<boolean>;
  find(digest: string): Promise<StoredToken | undefined>;
  /** In the order of their names. */
  list(): Promise<StoredToken[]>;
  /** Whether there was one of this name. */
  remove(name: string): Promise<boolean>;
}

export type StartedEntry = Omit<AuditEntry, keyof AuditEnd>;

export interface AuditEnd {
  ended_at: string;
  outcome: Exclude<AuditEntry['outcome'], 'started'>;
  result: string | null;
}

export interface AuditStore {
  /** With an end, if there is nothing to wait for. */
  begin(entry: StartedEntry, end?: AuditEnd): Promise<void>;
  /** Once for each entry. */
  end(id: string, end: AuditEnd): Promise<void>;
  /** The newest first. */
  list(query: AuditQuery): Promise<AuditEntry[]>;
  /** Deletes the oldest entries before this time, at most so many at once. Returns how many they were. */
  deleteBefore(time: string, atOnce: number): Promise<number>;
}
