// Views of the registry: addresses to copy, a form to add or change a view, and its removal.
import { useSignal } from '@preact/signals';
import type { RegistryView } from '../../../src/registry/contract.ts';
import type { HubFailure } from '../api/failure.ts';
import { hub } from '../api/hub.ts';
import { asFailure } from '../api/problem.ts';
import { CopyBox } from '../parts/copy-box.tsx';
import { Question } from '../parts/dialog.tsx';
import { FailureNotice } from '../parts/notice.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';

const COLUMNS = ['View', 'Servers', 'Address', 'Change'];
/** The built-in view, which the policy defines. */
const BUILT_IN = 'approved';
const NEW: RegistryView = { name: '', description: '', names: [], approved: false };

export function Views() {
  const views = useSignal<readonly RegistryView[]>([]);
  const edited = useSignal<RegistryView>(NEW);
  const removed = useSignal<string | undefined>(undefined);
  const failure = useSignal<HubFailure | undefined>(undefined);

  async function change(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      views.value = (await hub.views()).items;
      failure.value = undefined;
      return true;
    } catch (error) {
      failure.value = asFailure(error);
      return false;
    }
  }
  const refresh = () => change(async () => {});

  return (
    <section class="panel" aria-labelledby="views">
      <h2 id="views">Registry views</h2>
      <details onToggle={(event) => event.currentTarget.open && refresh()}>
        <summary>Subsets of the registry, each with its own address; for example, a team’s allow-list</summary>
        {failure.value && <FailureNotice failure={failure.value} onRetry={refresh} />}
        {views.value.length > 0 && (
          <ViewTable
            views={views.value}
            onEdit={(view) => {
              edited.value = view;
            }}
            onRemove={(name) => {
              removed.value = name;
            }}
          />
        )}
        <ViewForm
          key={edited.value.name}
          view={edited.value}
          onSave={async (view) => {
            const isSaved = await change(() => hub.saveView(view));
            if (isSaved) edited.value = NEW;
            return isSaved;
          }}
        />
        {removed.value !== undefined && (
          <Question
            title={`Remove the view ${removed.value}?`}
            action="Remove"
            onYes={async () => {
              await change(() => hub.removeView(removed.value ?? ''));
            }}
            onClose={() => {
              removed.value = undefined;
            }}
          >
            <p>Clients that use its address will find nothing there.</p>
          </Question>
        )}
      </details>
    </section>
  );
}

interface ViewTableProps {
  views: readonly RegistryView[];
  onEdit: (view: RegistryView) => void;
  onRemove: (name: string) => void;
}

function ViewTable({ views, onEdit, onRemove }: ViewTableProps) {
  return (
    <ScrollTable columns={COLUMNS}>
      {views.map((view) => (
        <tr key={view.name}>
          <td class="run-remote">
            {view.name} <span class="quiet">{view.description}</span>
          </td>
          <td>{serversOf(view)}</td>
          <td>
            <CopyBox text={`${location.origin}/registry/${view.name}`} label={`the address of ${view.name}`} />
          </td>
          <td>
            {view.name !== BUILT_IN && (
              <>
                <button type="button" class="button" aria-label={`Change ${view.name}`} onClick={() => onEdit(view)}>
                  Change
                </button>{' '}
                <button
                  type="button"
                  class="button"
                  aria-label={`Remove ${view.name}`}
                  onClick={() => onRemove(view.name)}
                >
                  Remove
                </button>
              </>
            )}
          </td>
        </tr>
      ))}
    </ScrollTable>
  );
}

function serversOf({ names, approved }: RegistryView): string {
  const which = names.length === 0 ? 'all' : names.join(', ');
  return approved ? `${which}; only what the policy allows` : which;
}

function ViewForm({ view, onSave }: { view: RegistryView; onSave: (view: RegistryView) => Promise<boolean> }) {
  const isNew = view.name === '';
  async function save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const fields = new FormData(form);
    const text = (field: string) => String(fields.get(field) ?? '').trim();
    const isSaved = await onSave({
      name: isNew ? text('name') : view.name,
      description: text('description'),
      names: text('names')
        .split(/[\s,]+/)
        .filter(Boolean),
      approved: fields.has('approved'),
    });
    if (isSaved) form.reset();
  }
  return (
    <form class="view-form" onSubmit={save} aria-label={isNew ? 'New view' : `Change ${view.name}`}>
      <label>
        <span class="label">Name</span>
        <input type="text" name="name" required maxLength={64} defaultValue={view.name} disabled={!isNew} />
      </label>
      <label>
        <span class="label">Servers: names or patterns, separated by commas; leave empty for all</span>
        <input
          type="text"
          name="names"
          placeholder="com.acme/*, org.example/notes"
          defaultValue={view.names.join(', ')}
        />
      </label>
      <label>
        <span class="label">Description (optional)</span>
        <input type="text" name="description" maxLength={500} defaultValue={view.description} />
      </label>
      <label class="choice">
        <input type="checkbox" name="approved" defaultChecked={view.approved} />
        <span>Only servers that the policy allows and that are not waiting for approval</span>
      </label>
      <button type="submit" class="button">
        {isNew ? 'Add view' : 'Save view'}
      </button>
    </form>
  );
}
