// Ports: what access needs from a database.
import type { AccessToken, AuditEntry, AuditQuery } from './contract.ts';

export type StoredToken = Omit<AccessToken, 'expired'>;

export interface TokenStore {
  /** False if the name is taken. */
  add(token: StoredToken, digest: string): Promise<boolean>;
  find(digest: string): Promise<StoredToken | undefined>;
  /** Sorted by name. */
  list(): Promise<StoredToken[]>;
  /** Returns whether a token with this name existed. */
  remove(name: string): Promise<boolean>;
}

export type StartedEntry = Omit<AuditEntry, keyof AuditEnd>;

export interface AuditEnd {
  ended_at: string;
  outcome: Exclude<AuditEntry['outcome'], 'started'>;
  result: string | null;
}

export interface AuditStore {
  /** Pass `end` for an entry that is already complete. */
  begin(entry: StartedEntry, end?: AuditEnd): Promise<void>;
  /** Called once per entry. */
  end(id: string, end: AuditEnd): Promise<void>;
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditEntry[]>;
}
