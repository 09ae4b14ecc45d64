// Notices about an entity that readers should know before they use it: blocked, withdrawn, outdated, no longer listed, or changed.
import type { BlockedEntity, EntityRecord } from '../../../src/catalog/contract.ts';
import { mayAct } from '../api/settings.ts';
import { Notice } from '../parts/notice.tsx';
import { onDay } from '../parts/words.ts';
import { approvalsPath, entityPath } from '../router.ts';

/** `note` is set only if the entity was blocked on this page. */
export function Notices({ entity }: { entity: EntityRecord & Pick<BlockedEntity, 'note'> }) {
  const { blocked_at, blocked_reason, lifecycle, missing_since, missing_reason, changed_at, note } = entity;
  const { hidden_by, held_by, install_refusal, approval } = entity;
  return (
    <>
      {blocked_at && (
        <Notice tone="warn" title={`Blocked by an operator since ${onDay(blocked_at)}`}>
          {blocked_reason && <p>{blocked_reason}</p>}
          <p>It is hidden from search, and the hub does not install or register it.</p>
          {note && <p>{note}</p>}
        </Notice>
      )}
      {(hidden_by || held_by || install_refusal) && (
        <Notice tone="warn" title={restrictionTitle(approval)}>
          {hidden_by && <p>It is hidden from search by {hidden_by}.</p>}
          {approval?.reason && !install_refusal?.includes(approval.reason) && <p>{approval.reason}</p>}
          {install_refusal && <p>{install_refusal}</p>}
          {held_by && <p>It is kept out of the gateway by {held_by}.</p>}
          {approval && approval.state !== 'approved' && mayAct('operator') && (
            <p>
              Review it in <a href={approvalsPath(approval.state)}>Approvals</a>.
            </p>
          )}
        </Notice>
      )}
      {lifecycle.status !== 'active' && (
        <Notice tone="warn" title={`This version is ${lifecycle.status}`}>
          {lifecycle.reason && <p>{lifecycle.reason}</p>}
        </Notice>
      )}
      <NewestVersion entity={entity} />
      {missing_since && (
        <Notice tone="warn" title="No remote lists this version">
          {missing_reason && <p>Its registry took it down: {missing_reason}</p>}
          <p>It has been missing since {onDay(missing_since)}. This page shows the manifest as it was last read.</p>
        </Notice>
      )}
      {changed_at && (
        <Notice tone="warn" title="The content of this version changed after it was published">
          <p>It last changed on {onDay(changed_at)}. An earlier install of this version may differ from it.</p>
        </Notice>
      )}
    </>
  );
}

function restrictionTitle(approval: EntityRecord['approval']): string {
  const titles = { pending: 'Waiting for approval', rejected: 'Rejected', approved: undefined };
  return (approval && titles[approval.state]) ?? 'Restricted by the policy of this hub';
}

/** Versions are sorted, newest first. */
function NewestVersion({ entity: { versions, id } }: { entity: EntityRecord }) {
  const usable = versions.filter(({ status, blocked }) => status === 'active' && !blocked);
  const newest = usable.find(({ prerelease }) => !prerelease);
  if (!newest || newest.id === id) return null;
  return (
    <Notice title={`The newest stable version is ${newest.version}`}>
      <p>
        <a href={entityPath(newest.id)}>Open {newest.version}</a>
      </p>
    </Notice>
  );
}
