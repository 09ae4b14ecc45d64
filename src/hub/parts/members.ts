// Sets up what remotes list. On SQLite, the thread that writes records it.
import { extname } from 'node:path';
import type { PublishOutcome } from '../../catalog/store.ts';
import type { MemberStore } from '../../remotes/store.ts';
import type { Dialect } from '../../store/dialects/dialect.ts';
import type { Admission } from '../../store/governance/admission.ts';
import { createMemberStore } from '../../store/remotes/member-store.ts';
import { recordMembers } from '../../store/remotes/record-members.ts';
import type { Revision } from '../../store/revision.ts';

const MODULE = new URL(`./record-worker${extname(import.meta.url)}`, import.meta.url).href;

export function openMembers(
  database: Dialect,
  { revision, admission }: { revision: Revision; admission: Admission },
): MemberStore {
  const { inWriter } = database;
  if (!inWriter) return createMemberStore(database, revision, recordMembers(database, { revision, admission }));
  return createMemberStore(database, revision, (task) =>
    inWriter<PublishOutcome[] | undefined>({ module: MODULE, input: task }).finally(() => revision.forget()),
  );
}
