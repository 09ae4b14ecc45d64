// Ports: what policies and approvals need from a database, and what the database needs to know about them.
import type { Trust } from '../catalog/contract.ts';
import type { EntityFacts } from '../catalog/facts.ts';
import type { EntityType, EntityUid } from '../catalog/uid.ts';
import type { ApprovalListState, RegisterMode } from './contract.ts';

/** Everything that rules can ask about an entity. */
export interface PolicySubject extends EntityFacts {
  uid: EntityUid;
  type: EntityType;
  name: string;
  slug: string;
  quality: number;
  publishedAt: string | null;
  createdAt: string;
  /** Whether this hub would register it, if the rules allow it. */
  isRegistrable: boolean;
  /** Null if the origin of its current content has not been checked. */
  trust: Trust | null;
  /** The remote that its content comes from; null for a manifest that no remote brought. */
  remote: { url: string; name: string | null } | null;
  /** What the remote that it belongs to may register. */
  registers: RegisterMode;
}

/** What the policy comes to, as it is kept with each entity. */
export interface AdmissionFlags {
  isHidden: boolean;
  isHeld: boolean;
  /** Rules do not allow it to be installed, and no approval would change that. */
  isInstallRefused: boolean;
  needsApproval: boolean;
}

/** What was decided about an entity: about its present content, and about its name. */
export interface ApprovalState {
  own: 'approved' | 'rejected' | undefined;
  /** Whether another version of its name was approved, from the same remote. */
  isNameApproved: boolean;
}

/** The rules in force, for the transaction that writes entities. */
export interface AdmissionRules {
  /** Undefined when the flags depend on approvals. */
  flagsWithoutApproval(subject: PolicySubject, now: Date): AdmissionFlags | undefined;
  flags(subject: PolicySubject, approval: ApprovalState, now: Date): AdmissionFlags;
}

export interface StoredPolicy {
  /** Null when there never was one. */
  text: string | null;
  /** The digest of the text. */
  digest: string | null;
  changedAt: string | null;
  changedBy: string | null;
  /** Whether the settings of some remote keep entities out of the gateway. */
  isAnyRemoteRestricted: boolean;
  /** Moves with the text, and with what remotes may register. */
  version: number;
  /** Whether every entity has the flags that these rules give it. */
  isApplied: boolean;
}

export interface PolicyStore {
  read(): Promise<StoredPolicy>;
  /** Waits for those who are saving entities by the earlier rules. */
  write(policy: { text: string; digest: string; at: Date; by: string }): Promise<void>;
  /** All entities have the flags of this version. Nothing happens when the rules have another one by now. */
  markApplied(version: number): Promise<void>;
  /** Entities in the order of their uids. */
  subjects(page: { after: EntityUid; limit: number }): Promise<PolicySubject[]>;
  subject(uid: EntityUid): Promise<PolicySubject | undefined>;
  approvalOf(subject: PolicySubject): Promise<ApprovalState>;
  /** For many at once. */
  approvalsOf(subjects: readonly PolicySubject[]): Promise<(subject: PolicySubject) => ApprovalState>;
  /** Those of a page whose flags are not what the rules in force give them, and where the next page begins. */
  outdated(page: { after: EntityUid; limit: number }): Promise<{ uids: EntityUid[]; last: EntityUid | undefined }>;
  /** Gives these the flags of the rules in force; how many changed. */
  readmit(uids: readonly EntityUid[]): Promise<number>;
}

/** A decision about one content of one version. */
export interface StoredDecision {
  uid: EntityUid;
  decision: 'approved' | 'rejected' | 'revoked';
  reason: string | null;
  decidedBy: string;
  decidedAt: string;
  /** Digest of what the reviewer saw; nothing is decided when it is another one by now. */
  brings: string;
  /** What was shown to the reviewer, as JSON. */
  reviewed: string;
}

export interface NewDecision extends Omit<StoredDecision, 'uid' | 'decidedAt'> {
  decidedAt: Date;
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
  /** About the present content. */
  decisionOn(subject: PolicySubject): Promise<StoredDecision | undefined>;
  /** The last approval of any content of any version of its type and slug. */
  lastApproval(subject: PolicySubject): Promise<StoredDecision | undefined>;
  /** If two decisions differ, the first one stands. The flags of all versions of the name are updated too. */
  decide(subject: PolicySubject, decision: NewDecision): Promise<DecisionOutcome>;
}
