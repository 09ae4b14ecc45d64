// Runs in the thread that writes to SQLite: records batches of ingests there, so that their rows are not copied between threads.
import type { PublishOutcome } from '../../catalog/store.ts';
import { admissionRules } from '../../policy/admission.ts';
import type { Queries } from '../../store/dialects/dialect.ts';
import { createOutbox } from '../../store/events/outbox.ts';
import { createAdmission } from '../../store/governance/admission.ts';
import { type RecordMembers, type RecordTask, recordMembers } from '../../store/remotes/record-members.ts';
import { createRevision } from '../../store/revision.ts';

let record: RecordMembers | undefined;
/** The time of the running task: the caller has the clock. */
let at = new Date(0);

export default function run(queries: Queries, task: RecordTask): Promise<PublishOutcome[] | undefined> {
  at = task.at;
  record ??= open(queries);
  return record(task);
}

function open(queries: Queries): RecordMembers {
  const now = () => at;
  const revision = createRevision(queries, createOutbox(queries, now));
  return recordMembers(queries, { revision, admission: createAdmission(queries, { rulesOf: admissionRules, now }) });
}
