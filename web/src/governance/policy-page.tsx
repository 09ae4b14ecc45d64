// The admission policy: shows it, previews the effect of a change, and applies it.
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { byWhom } from '../../../src/access/audit-for-people.ts';
import type { PolicyChange, PolicyState } from '../../../src/policy/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { mayAct } from '../api/settings.ts';
import { FailureNotice, Notice } from '../parts/notice.tsx';
import { OperatorsOnly } from '../parts/operators-only.tsx';
import { atMoment, count } from '../parts/words.ts';

const EXAMPLE = `version: 1
rules:
  - name: new servers need approval
    match: { type: mcp_server, younger_than_days: 14 }
    register: require_approval
default: { search: allow, install: allow, register: allow }
`;

const policy = signal<PolicyState | undefined>(undefined);
const text = signal('');
const change = signal<PolicyChange | undefined>(undefined);
const failure = signal<HubFailure | undefined>(undefined);
const isBusy = signal(false);

async function load(): Promise<void> {
  await tried(async () => {
    policy.value = await hub.policy();
    text.value = policy.value.text ?? EXAMPLE;
    change.value = undefined;
  });
}

async function put(dryRun: boolean): Promise<void> {
  await tried(async () => {
    change.value = undefined;
    change.value = await hub.changePolicy(text.value, dryRun);
    if (!dryRun) policy.value = await hub.policy();
  });
}

async function tried(work: () => Promise<void>): Promise<void> {
  failure.value = undefined;
  isBusy.value = true;
  try {
    await work();
  } catch (error) {
    failure.value = asFailure(error);
  } finally {
    isBusy.value = false;
  }
}

export function PolicyPage() {
  return (
    <OperatorsOnly title="Policy" failure={failure}>
      <Editor />
    </OperatorsOnly>
  );
}

function Editor() {
  useEffect(() => void load(), []);
  const isChecked = change.value?.dry_run === true;
  const isAdmin = mayAct('admin');
  const isFixed = !isAdmin || policy.value?.source === 'file';
  return (
    <>
      {policy.value && (
        <section class="panel" aria-label="Policy in force">
          <Source policy={policy.value} />
          {!isAdmin && <p>Only admins can change the policy.</p>}
          <label>
            <span class="label">Policy (YAML or JSON)</span>
            <textarea
              class="policy-text"
              rows={20}
              spellcheck={false}
              readOnly={isFixed}
              value={text}
              onInput={(event) => {
                text.value = event.currentTarget.value;
                change.value = undefined;
              }}
            />
          </label>
          {!isFixed && (
            <div class="review-actions">
              <button type="button" class="button" disabled={isBusy} onClick={() => put(true)}>
                Check
              </button>
              <button
                type="button"
                class="button button-main"
                disabled={isBusy.value || !isChecked}
                onClick={() => put(false)}
              >
                Apply
              </button>
              {!isChecked && <span class="quiet">Check it first, to see what it changes.</span>}
            </div>
          )}
          {change.value && <Change change={change.value} />}
        </section>
      )}
      {failure.value && <FailureNotice failure={failure.value} />}
    </>
  );
}

function Source({
  policy: { source, text: inForce, changed_at, changed_by, file_error, warnings },
}: {
  policy: PolicyState;
}) {
  return (
    <>
      {inForce === null && (
        <p>
          This hub has no policy: everything can be found, installed and registered. Below is an example to start with.
        </p>
      )}
      {changed_at && (
        <p class="quiet">
          {source === 'file' ? 'Read from POLICY_FILE (change it there)' : `Set ${byWhom(changed_by)}`},{' '}
          {atMoment(changed_at)}.
        </p>
      )}
      {file_error && (
        <Notice tone="bad" title="POLICY_FILE cannot be used; the earlier policy stays in force">
          <p>{file_error}</p>
        </Notice>
      )}
      <Warnings warnings={warnings} />
    </>
  );
}

function Warnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <Notice tone="warn" title={count(warnings.length, 'warning')}>
      <ul class="plain-list">
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
    </Notice>
  );
}

function Change({ change: { dry_run, affected, entities, changes, warnings, note } }: { change: PolicyChange }) {
  const title = dry_run
    ? affected === 0
      ? 'It would change nothing'
      : `It would affect ${affected} of ${entities} entries`
    : `In force; ${affected} of ${entities} entries affected`;
  return (
    <>
      <Notice tone={dry_run ? 'plain' : 'good'} title={title}>
        {changes.length > 0 && (
          <ul class="plain-list">
            {changes.map(({ action, from, to, count: number }) => (
              <li key={`${action} ${from} ${to}`}>
                {action}: {from} → {to}, {count(number, 'entry', 'entries')}
              </li>
            ))}
          </ul>
        )}
        {note && <p>{note}</p>}
      </Notice>
      {dry_run && <Warnings warnings={warnings} />}
    </>
  );
}
