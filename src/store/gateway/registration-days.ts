// Counts registrations by day; those that were removed from the gateway later still count.
import type { RegistrationHistory } from '../../gateway/contract.ts';
import type { RegistrationRecord } from '../../gateway/store.ts';
import type { Db } from '../dialects/dialect.ts';

export async function historyOf(read: Db, days: number): Promise<RegistrationHistory> {
  const [newestFirst, { total }] = await Promise.all([
    read.selectFrom('registration_day').selectAll().orderBy('day', 'desc').limit(days).execute(),
    read
      .selectFrom('entity')
      .select(({ fn }) => fn.countAll().as('total'))
      .where('gateway_registered_at', 'is not', null)
      .executeTakeFirstOrThrow(),
  ]);
  return { days: newestFirst.toReversed(), total: Number(total) };
}

export async function countByDay(tx: Db, records: readonly RegistrationRecord[]): Promise<void> {
  const registered = records.filter(({ error, isNews }) => error === null && isNews);
  for (const [day, some] of Map.groupBy(registered, ({ at }) => at.toISOString().slice(0, 10)))
    await tx
      .insertInto('registration_day')
      .values({ day, registered: some.length })
      .onConflict((conflict) =>
        conflict
          .column('day')
          .doUpdateSet(({ eb }) => ({ registered: eb('registration_day.registered', '+', some.length) })),
      )
      .execute();
}
