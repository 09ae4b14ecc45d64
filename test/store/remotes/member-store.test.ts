import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { entityFromManifest, textOfEntity } from '../../../src/catalog/entity.ts';
import type { DatabaseAddress } from '../../../src/lib/net/address.ts';
import type { Member } from '../../../src/remotes/store.ts';
import { createCatalogStore } from '../../../src/store/catalog/catalog-store.ts';
import { createRegistrationStore } from '../../../src/store/gateway/registration-store.ts';
import { NO_RULES } from '../../../src/store/governance/admission.ts';
import { createMemberStore } from '../../../src/store/remotes/member-store.ts';
import { recordMembers } from '../../../src/store/remotes/record-members.ts';
import { createRemoteStore } from '../../../src/store/remotes/remote-store.ts';
import { createRevision } from '../../../src/store/revision.ts';
import { aManifest } from '../../support/builders.ts';
import { openHere, testOnEveryEngine } from '../../support/databases/databases.ts';

const NOON = new Date('2026-06-01T12:00:00.000Z');
const LATER = new Date('2026-06-02T12:00:00.000Z');
const [A, B] = ['https://a.example/i.json', 'https://b.example/i.json'] as const;

async function openMembers(t: TestContext, address: DatabaseAddress) {
  const dialect = await openHere(address);
  t.after(() => dialect.close());
  const revision = createRevision(dialect);
  const catalog = createCatalogStore(dialect, revision);
  const ids = ['x', 'y', 'z'];
  await catalog.save(
    ids.map((id) => entityFromManifest({ document: aManifest({ type: 'tool', id }) })),
    NOON,
  );
  const remotes = createRemoteStore(dialect, revision);
  await remotes.add([A, B], NOON);
  const missingSince = async (id: string) => (await catalog.get({ type: 'tool', slug: id }))?.missingSince ?? null;
  return {
    dialect,
    members: createMemberStore(dialect, revision, recordMembers(dialect, { revision, admission: NO_RULES })),
    remotes,
    registrations: createRegistrationStore(dialect, revision),
    catalog,
    missingSince,
  };
}

const member = (name: string, id: string, fields: Partial<Member> = {}): Member => ({
  url: `https://a.example/${name}.json`,
  uid: `tool:${id}@1.0.0`,
  etag: '"1"',
  lastModified: null,
  digest: 'sha256:1',
  ...fields,
});
const urlsOf = (...names: string[]) => names.map((name) => `https://a.example/${name}.json`);

testOnEveryEngine('members: are recorded, found, replaced and counted per remote', async (t, address) => {
  const { members } = await openMembers(t, address);
  await members.record(A, [member('1', 'x'), member('2', 'y')], NOON);
  await members.record(B, [member('1', 'z')], NOON);
  await members.record(A, [member('2', 'y', { etag: null, lastModified: 'Mon', digest: 'sha256:2' })], LATER);
  const [url] = urlsOf('2');
  assert.deepEqual(await members.known(A, urlsOf('2', '3')), [
    { url, etag: null, lastModified: 'Mon', digest: 'sha256:2', isMissing: false },
  ]);
  assert.deepEqual(await members.known(A, []), []);
  assert.deepEqual(await members.ofUids(A, ['tool:x@1.0.0', 'tool:z@1.0.0']), [
    { url: urlsOf('1')[0], uid: 'tool:x@1.0.0' },
  ]);
  assert.deepEqual([await members.countPresent(A), await members.countPresent(B)], [2, 1]);
  await members.record(A, [], NOON);
});

testOnEveryEngine(
  'members: those of entities that were removed meanwhile are skipped, and the index is forgotten',
  async (t, address) => {
    const { members, remotes } = await openMembers(t, address);
    const state = { etag: '"1"', lastModified: null, changesSince: null, goneThroughAt: null, isSelfContained: false };
    const { generation } = (await remotes.remembered(A)) ?? {};
    await remotes.saveOutcome(A, { at: NOON, error: null, note: null, isShrunk: false, state, generation });
    await members.record(A, [member('1', 'x')], NOON);
    assert.equal((await remotes.remembered(A))?.state.etag, '"1"');
    assert.deepEqual(await members.record(A, [member('2', 'gone'), member('3', 'y')], NOON), []);
    assert.deepEqual(await members.present(A, { after: '', limit: 10 }), urlsOf('1', '3'));
    assert.equal((await remotes.remembered(A))?.state.etag, null);
  },
);

testOnEveryEngine(
  'members: are recorded together with their entities, unless their remote is gone',
  async (t, address) => {
    const { members, remotes, catalog } = await openMembers(t, address);
    const textOf = (id: string) => textOfEntity(entityFromManifest({ document: aManifest({ type: 'tool', id }) }));
    const record = (remote: string) =>
      members.record(remote, [member('1', 'new'), member('2', 'x')], NOON, {
        entities: [
          { entity: textOf('new'), manifestUrl: 'https://a.example/1.json' },
          { entity: textOf('x'), manifestUrl: 'https://a.example/2.json' },
        ],
        isStored: true,
      });
    const before = await catalog.revision();
    assert.equal(await record('https://c.example/i.json'), undefined);
    assert.equal(await catalog.get({ type: 'tool', slug: 'new' }), undefined);
    assert.equal(await catalog.revision(), before);
    assert.deepEqual(await record(A), ['created', 'unchanged']);
    assert.equal(await catalog.revision(), before + 1, 'in one step');
    assert.equal((await catalog.get({ type: 'tool', slug: 'new' }))?.ownerUrl, A);
    assert.equal(await members.countPresent(A), 2);
    await remotes.remove(A, { purge: true, at: NOON });
    assert.equal(await record(A), undefined);
  },
);

testOnEveryEngine('members: present ones are paged in byte order', async (t, address) => {
  const { members } = await openMembers(t, address);
  const names = ['b', 'B', 'a', 'ä', '1'];
  await members.record(
    A,
    names.map((name) => member(encodeURI(name), 'x')),
    NOON,
  );
  await members.markMissing(A, urlsOf('b'), NOON);
  const first = await members.present(A, { after: '', limit: 2 });
  const rest = await members.present(A, { after: first[1] ?? '', limit: 10 });
  assert.deepEqual([...first, ...rest], urlsOf('%C3%A4', '1', 'B', 'a'));
});

testOnEveryEngine('missing: an entity is missing only once its last manifest is gone', async (t, address) => {
  const { members, missingSince, catalog } = await openMembers(t, address);
  await members.record(A, [member('1', 'x'), member('2', 'y')], NOON);
  await members.record(B, [member('1', 'x')], NOON);
  const before = await catalog.revision();

  assert.deepEqual(await members.markMissing(A, urlsOf('1', 'unknown'), LATER), { manifests: 1, uids: [] });
  assert.equal(await missingSince('x'), null);
  assert.equal(await catalog.revision(), before, 'no visible change');
  const { manifests, uids } = await members.markMissing(B, urlsOf('1'), LATER);
  assert.deepEqual([manifests, uids.length], [1, 1]);
  assert.equal(await missingSince('x'), LATER.toISOString());
  assert.equal(await catalog.revision(), before + 1);
  assert.deepEqual(await members.markMissing(B, urlsOf('1'), new Date()), { manifests: 0, uids: [] }, 'once');
  assert.equal(await missingSince('x'), LATER.toISOString());
  assert.deepEqual([await members.countPresent(A), await members.countPresent(B)], [1, 0]);
  assert.equal((await members.known(B, urlsOf('1')))[0]?.isMissing, true);

  await members.record(B, [member('1', 'x')], LATER);
  assert.equal(await missingSince('x'), null);
  assert.equal(await catalog.revision(), before + 2);
  assert.equal(await missingSince('z'), null, 'an entity that no remote ever listed is not missing');
});

testOnEveryEngine('missing: a manifest that becomes another entity leaves the old one missing', async (t, address) => {
  const { members, missingSince } = await openMembers(t, address);
  await members.record(A, [member('1', 'x'), member('2', 'y')], NOON);
  await members.record(A, [member('1', 'z')], LATER);
  assert.deepEqual([await missingSince('x'), await missingSince('z')], [LATER.toISOString(), null]);
});

testOnEveryEngine('missing: entities that swap addresses are not missing', async (t, address) => {
  const { members, missingSince } = await openMembers(t, address);
  await members.record(A, [member('1', 'x'), member('2', 'y')], NOON);
  await members.record(A, [member('1', 'y'), member('2', 'x')], LATER);
  assert.deepEqual([await missingSince('x'), await missingSince('y')], [null, null]);
});

/** Like a sync, which reads two remotes at a time. */
testOnEveryEngine('missing: is correct under concurrent drops and additions', async (t, address) => {
  const { members, catalog, dialect } = await openMembers(t, address);
  for (let round = 0; round < 8; round += 1) {
    const ids = Array.from({ length: 60 }, (_, index) => `r${round}-${index}`);
    await catalog.save(
      ids.map((id) => entityFromManifest({ document: aManifest({ type: 'tool', id }) })),
      NOON,
    );
    const missing = async () => {
      const rows = await dialect.read
        .selectFrom('entity')
        .select('uid')
        .where('missing_since', 'is not', null)
        .execute();
      return rows.filter(({ uid }) => uid.startsWith(`tool:r${round}-`)).length;
    };
    const listed = ids.map((id) => member(id, id));
    // Each processes them in a different order.
    const [inOrder, reversed] = [urlsOf(...ids), urlsOf(...ids.toReversed())];
    await members.record(A, listed, NOON);

    await Promise.all([members.markMissing(A, inOrder, LATER), members.record(B, listed.toReversed(), LATER)]);
    assert.equal(await missing(), 0, 'the other one lists them');
    await Promise.all([members.record(A, listed, LATER), members.markMissing(B, reversed, LATER)]);
    assert.equal(await missing(), 0, 'and the other way round');

    await members.record(B, listed, LATER);
    await Promise.all([members.markMissing(A, inOrder, LATER), members.markMissing(B, reversed, LATER)]);
    assert.equal(await missing(), ids.length, 'no remote lists them');

    await Promise.all([members.record(A, listed, LATER), members.record(B, listed.toReversed(), LATER)]);
    assert.equal(await missing(), 0);
    const [toX, toY] = [
      listed.map(({ url }) => ({ ...member('', 'x'), url })),
      listed.map(({ url }) => ({ ...member('', 'y'), url })),
    ];
    await Promise.all([members.record(A, toX, LATER), members.record(B, toY.toReversed(), LATER)]);
    assert.equal(await missing(), ids.length, 'both became other entities');
  }
});

testOnEveryEngine('missing: concurrent saves, drops and removals never deadlock', async (t, address) => {
  const { members, catalog, registrations } = await openMembers(t, address);
  // UTF-16 would order the last two the other way round.
  const ids = [...Array.from({ length: 40 }, (_, index) => `s${index}`), '\uff5e', '\u{1f600}'];
  const listed = ids.map((id) => ({ ...member(encodeURI(id), id), uid: `mcp_server:${id}@1.0.0` }));
  const urls = listed.map(({ url }) => url);
  const entities = (summary: string) =>
    ids.map((id) => entityFromManifest({ document: aManifest({ type: 'mcp_server', id, summary }) }));
  for (let round = 0; round < 6; round += 1) {
    await catalog.save(entities(`${round}`), NOON);
    await members.record(A, listed, NOON);
    await members.record(B, listed, NOON);
    await Promise.all([
      catalog.save(entities(`${round} changed`).toReversed(), NOON),
      members.markMissing(A, urls.toReversed(), LATER),
      members.record(B, listed.toReversed(), LATER),
      registrations.removeMany({ uids: listed.map(({ uid }) => uid).toReversed(), errorOnly: false }),
    ]);
  }
});

/** Publishes a manifest of an entity and records it, as an ingest does. */
async function publish(
  { catalog, members }: Pick<Awaited<ReturnType<typeof openMembers>>, 'catalog' | 'members'>,
  remote: string,
  { url, uid, summary = 'as it was' }: { url: string; uid: string; summary?: string },
) {
  const id = /^tool:(.*)@/.exec(uid)?.[1] ?? '';
  const entity = entityFromManifest({ document: aManifest({ type: 'tool', id, summary }) });
  const [outcome] = await catalog.publish(remote, [{ entity, manifestUrl: url }], NOON);
  await members.record(remote, [{ ...member('', id), url, uid, digest: `sha256:${summary}` }], NOON);
  return outcome;
}

const [X, ONE, TWO, THREE] = ['tool:new@1.0.0', ...urlsOf('1', '2', '3')] as [string, string, string, string];

testOnEveryEngine('ownership: the first remote owns an entity, and another does not change it', async (t, address) => {
  const { members, remotes, catalog, dialect } = await openMembers(t, address);
  await remotes.add([A, B], NOON);
  const state = () =>
    dialect.read
      .selectFrom('entity')
      .select(['summary', 'owner_url', 'made_of'])
      .where('uid', '=', X)
      .executeTakeFirst();
  assert.equal(await publish({ catalog, members }, A, { url: ONE, uid: X }), 'created');
  assert.equal(await publish({ catalog, members }, B, { url: TWO, uid: X, summary: 'hijacked' }), 'not owned');
  assert.deepEqual(await state(), { summary: 'as it was', owner_url: A, made_of: ONE });
  assert.deepEqual(await members.conflicts(B, 10), { items: [{ url: TWO, uid: X, owner: A }], total: 1 });
  assert.deepEqual((await members.conflicts(A, 10)).total, 0);

  await remotes.change(B, { priority: 5 });
  assert.deepEqual(await state(), { summary: 'as it was', owner_url: B, made_of: null }, 'its next ingest creates it');
  assert.deepEqual([await members.isWorkLeft(A), await members.isWorkLeft(B)], [false, true]);
  assert.equal(await publish({ catalog, members }, B, { url: TWO, uid: X, summary: 'chosen' }), 'changed');
  assert.equal(await publish({ catalog, members }, A, { url: ONE, uid: X }), 'not owned');
  assert.deepEqual(await state(), { summary: 'chosen', owner_url: B, made_of: TWO });

  await remotes.change(A, { priority: 6 });
  assert.equal(await publish({ catalog, members }, A, { url: ONE, uid: X }), 'changed');
  await members.markMissing(A, [ONE], LATER);
  assert.equal((await state())?.owner_url, B, 'it passes to the remote that still lists it');
  await members.markMissing(B, [TWO], LATER);
  assert.equal((await state())?.owner_url, null);
});

testOnEveryEngine('ownership: of two concurrent remotes exactly one owns each entity', async (t, address) => {
  const { remotes, catalog, dialect } = await openMembers(t, address);
  await remotes.add([A, B], NOON);
  const ids = Array.from({ length: 100 }, (_, index) => `both-${index}`);
  const published = (summary: string) =>
    ids.map((id) => ({
      entity: entityFromManifest({ document: aManifest({ type: 'tool', id, summary }) }),
      manifestUrl: `https://${summary}.example/${id}.json`,
    }));
  const [ofA, ofB] = await Promise.all([
    catalog.publish(A, published('a'), NOON),
    catalog.publish(B, published('b').toReversed(), NOON),
  ]);
  const rows = await dialect.read
    .selectFrom('entity')
    .select(['owner_url', 'summary'])
    .where('uid', 'like', 'tool:both-%')
    .execute();
  const won = (outcomes: readonly string[]) => outcomes.filter((outcome) => outcome === 'created').length;
  // Each row is consistent: its summary is that of its owner.
  assert.deepEqual(
    rows.map(({ owner_url, summary }) => (owner_url === A ? 'a' : 'b') === summary).includes(false),
    false,
  );
  assert.equal(won(ofA) + won(ofB), ids.length);
  assert.equal(rows.filter(({ owner_url }) => owner_url === A).length, won(ofA));
});

testOnEveryEngine('duplicates: lists several manifests of one entity, and the one in use', async (t, address) => {
  const { members, catalog } = await openMembers(t, address);
  const duplicates = async (remote: string) =>
    (await members.duplicates(remote)).toSorted((a, b) => (a.url < b.url ? -1 : 1));
  await publish({ catalog, members }, A, { url: ONE, uid: X });
  await publish({ catalog, members }, A, { url: TWO, uid: X });
  await publish({ catalog, members }, A, { url: THREE, uid: 'tool:y@1.0.0' });
  assert.deepEqual(await duplicates(A), [
    { url: ONE, uid: X, madeOf: TWO },
    { url: TWO, uid: X, madeOf: TWO },
  ]);
  await publish({ catalog, members }, B, { url: ONE, uid: X });
  assert.deepEqual(await duplicates(B), [], 'only of entities of the remote');
  assert.equal(await members.isWorkLeft(A), false);

  await members.markMissing(A, [TWO], LATER);
  assert.deepEqual(await duplicates(A), [{ url: ONE, uid: X, madeOf: null }]);
  assert.equal(await members.isWorkLeft(A), true);
  await publish({ catalog, members }, A, { url: ONE, uid: X });
  assert.equal(await members.isWorkLeft(A), false);
  await members.remakeLater(B, [X]);
  assert.equal(await members.isWorkLeft(A), false, 'only of entities of the remote');
  await members.remakeLater(A, [X]);
  assert.equal(await members.isWorkLeft(A), true);
});

testOnEveryEngine('removal: entities that only the remote listed are marked missing, or purged', async (t, address) => {
  const { members, remotes, catalog, missingSince } = await openMembers(t, address);
  for (const purge of [false, true]) {
    await remotes.add([A, B], NOON);
    await publish({ catalog, members }, A, { url: ONE, uid: 'tool:x@1.0.0' });
    await publish({ catalog, members }, A, { url: TWO, uid: 'tool:y@1.0.0' });
    await publish({ catalog, members }, B, { url: THREE, uid: 'tool:y@1.0.0' });
    const outcome = await remotes.remove(A, { purge, at: LATER });
    assert.deepEqual(outcome, {
      removed: true,
      purged: purge ? 1 : 0,
      keptBlocked: 0,
      missing: purge ? 0 : 1,
      passedOn: 1,
    });
    assert.equal(await members.countPresent(A), 0);
    assert.equal(await missingSince('x'), purge ? null : LATER.toISOString());
    assert.equal((await catalog.get({ type: 'tool', slug: 'x' })) === undefined, purge);
    assert.equal((await catalog.get({ type: 'tool', slug: 'y' }))?.ownerUrl, B, 'the other remote owns it now');
    assert.equal(await members.isWorkLeft(B), true);
    assert.equal((await catalog.get({ type: 'tool', slug: 'z' }))?.missingSince, null, 'no remote ever listed it');
    await remotes.remove(B, { purge: false, at: LATER });
  }
});

testOnEveryEngine('removal: a large remote is removed in several steps', async (t, address) => {
  const { members, remotes, catalog } = await openMembers(t, address);
  await remotes.add([A], NOON);
  const ids = Array.from({ length: 2_500 }, (_, index) => `s${index}`);
  const entities = ids.map((id) => entityFromManifest({ document: aManifest({ type: 'tool', id }) }));
  await catalog.publish(
    A,
    entities.map((entity) => ({ entity, manifestUrl: `https://a.example/${entity.slug}.json` })),
    NOON,
  );
  await members.record(
    A,
    ids.map((id) => member(id, id)),
    NOON,
  );
  const before = await catalog.revision();
  assert.deepEqual(await remotes.remove(A, { purge: true, at: LATER }), {
    removed: true,
    purged: 2_500,
    keptBlocked: 0,
    missing: 0,
    passedOn: 0,
  });
  assert.equal(await catalog.revision(), before + 2);
});

testOnEveryEngine('removal: a removal and a concurrent drop never deadlock', async (t, address) => {
  const { members, remotes, catalog } = await openMembers(t, address);
  const ids = Array.from({ length: 400 }, (_, index) => `s${index}`);
  await catalog.save(
    ids.map((id) => entityFromManifest({ document: aManifest({ type: 'tool', id }) })),
    NOON,
  );
  const listed = ids.flatMap((id) => [member(id, id), member(`${id}-again`, id)]);
  for (let round = 0; round < 6; round += 1) {
    await remotes.add([A, B], NOON);
    for (const remote of [A, B]) await members.record(remote, listed, NOON);
    await Promise.all([members.markMissing(B, urlsOf(...ids), LATER), remotes.remove(A, { purge: false, at: LATER })]);
    assert.deepEqual([await members.countPresent(A), await members.countPresent(B)], [0, ids.length]);
  }
});

testOnEveryEngine('members: the longest addresses and ids fit into every index', async (t, address) => {
  const { members, catalog } = await openMembers(t, address);
  const slug = '中'.repeat(256);
  const version = '文'.repeat(128);
  await catalog.save([entityFromManifest({ document: aManifest({ type: 'tool', id: slug, version }) })], NOON);
  const remote = `https://a.example/${'r'.repeat(982)}`;
  const url = `https://b.example/${'m'.repeat(982)}`;
  await members.record(remote, [member('1', 'x', { url, uid: `tool:${slug}@${version}` })], NOON);
  assert.equal((await members.known(remote, [url])).length, 1);
  assert.equal((await members.ofUids(remote, [`tool:${slug}@${version}`])).length, 1);
});
