// Ports: the database operations that policies and approvals need, and the rules that the database applies.
import type { Trust } from '../catalog/contract.ts';
import type { EntityFacts } from '../catalog/facts.ts';
import type { EntityType, EntityUid } from '../catalog/uid.ts';
import type { ApprovalListState, RegisterMode } from './contract.ts';

/** All properties of an entity that rules can test. */
export interface PolicySubject extends EntityFacts {
  uid: EntityUid;
  type: EntityType;
  name: string;
  slug: string;
  quality: number;
  publishedAt: string | null;
  createdAt: string;
  /** Whether this hub registers the entity if the rules allow it. */
  isRegistrable: boolean;
  /** Null if the origin of the current content has not been checked. */
  trust: Trust | null;
  /** The remote of the current content; null for a manifest that did not come from a remote. */
  remote: { url: string; name: string | null } | null;
  /** Which entities the owning remote may register. */
  registers: RegisterMode;
}

/** The result of the policy, stored with each entity. */
export interface AdmissionFlags {
  isHidden: boolean;
  isHeld: boolean;
  /** The rules forbid installing it, and an approval would not change that. */
  isInstallRefused: boolean;
  needsApproval: boolean;
}

/** The decisions about an entity's current content and about its name. */
export interface ApprovalState {
  own: 'approved' | 'rejected' | undefined;
  /** Given with the decision about the content. */
  reason?: string | null;
  /** Whether an earlier version with the same name and remote was approved. */
  isNameApproved: boolean;
}

/** The rules in force, for the transaction that writes entities. */
export interface AdmissionRules {
  /** Returns undefined if the flags depend on approvals. */
  flagsWithoutApproval(subject: PolicySubject, now: Date): AdmissionFlags | undefined;
  flags(subject: PolicySubject, approval: ApprovalState, now: Date): AdmissionFlags;
}

export interface StoredPolicy {
  /** Null if there never was one. */
  text: string | null;
  /** Digest of the text. */
  digest: string | null;
  changed_at: string | null;
  changed_by: string | null;
  /** Whether the settings of any remote keep entities out of the gateway. */
  isAnyRemoteRestricted: boolean;
  /** Changes with the text, and with the settings of remotes. */
  version: number;
  /** Whether the flags of all entities match these rules. */
  isApplied: boolean;
}

export interface PolicyStore {
  read(): Promise<StoredPolicy>;
  /** Waits for transactions that save entities by the earlier rules. */
  write(policy: { text: string; digest: string; at: Date; by: string }): Promise<void>;
  /** Records that all entities have the flags of this version. Does nothing if the rules have changed since. */
  markApplied(version: number): Promise<void>;
  /** Entities in uid order. */
  subjects(page: { after: EntityUid; limit: number }): Promise<PolicySubject[]>;
  subject(uid: EntityUid): Promise<PolicySubject | undefined>;
  approvalOf(subject: PolicySubject): Promise<ApprovalState>;
  /** Like `approvalOf`, for many entities at once. */
  approvalsOf(subjects: readonly PolicySubject[]): Promise<(subject: PolicySubject) => ApprovalState>;
  /** Entities of a page whose flags differ from the rules in force, and the last uid of the page. */
  outdated(page: { after: EntityUid; limit: number }): Promise<{ uids: EntityUid[]; last: EntityUid | undefined }>;
  /** Updates flags to the rules in force; returns the number of changed entities. */
  readmit(uids: readonly EntityUid[]): Promise<number>;
}

/** A decision about one version with its content. */
export interface StoredDecision {
  uid: EntityUid;
  decision: 'approved' | 'rejected' | 'revoked';
  reason: string | null;
  decided_by: string;
  decided_at: string;
  /** Digest of the reviewed content; the decision is refused if the content has changed since. */
  brings: string;
  /** The reviewed content, as JSON. */
  reviewed: string;
}

export interface NewDecision extends Omit<StoredDecision, 'uid'> {
  /** Whether the rules accept the approval of an earlier version of the name. */
  coversName: boolean;
}

export type DecisionOutcome =
  | { outcome: 'decided' }
  /** The content has changed, or the entity no longer exists. */
  | { outcome: 'changed' }
  | { outcome: 'decided otherwise'; by: StoredDecision }
  | { outcome: 'nothing to revoke' };

export interface ApprovalStore {
  list(query: {
    state: ApprovalListState;
    limit: number;
    offset: number;
  }): Promise<{ uids: EntityUid[]; total: number }>;
  /** The decision about the current content. */
  decisionOn(subject: PolicySubject): Promise<StoredDecision | undefined>;
  /** The latest approval of any version and content with its type and slug. */
  lastApproval(subject: PolicySubject): Promise<StoredDecision | undefined>;
  /** If a different decision already exists, that one stands; the same decision with another reason replaces it. Also updates the flags of all versions of the name. */
  decide(subject: PolicySubject, decision: NewDecision): Promise<DecisionOutcome>;
}
