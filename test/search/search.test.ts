import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../src/lib/json.ts';
import { SearchPage, type SearchQuery } from '../../src/search/contract.ts';
import type { Ranking } from '../../src/search/engine/engine.ts';
import type { SearchSettings } from '../../src/search/search.ts';
import { aManifest } from '../support/builders.ts';
import { aQuery, NO_FILTERS, testSearch } from '../support/search/search.ts';

const MANIFESTS = [
  aManifest({ id: 'pdf-tables', version: '1.0.0' }),
  aManifest({ id: 'pdf-tables', version: '1.1.0' }),
  aManifest({
    type: 'tool',
    id: 'mail',
    name: 'mail',
    title: null,
    summary: 'Reads mails.',
    description: `${'It also does other things. '.repeat(20)}Finds invoices in mails.`,
    tags: ['mail'],
    capabilities: ['Inbox'],
  }),
  aManifest({ type: 'agent', id: 'off', name: 'off', summary: 'Reads nothing.', lifecycle: { status: 'disabled' } }),
];
const MAIL = 'tool:mail@1.0.0';

test('list: newest first, exact, without scores, all versions', async (t) => {
  const { search } = await testSearch(t, { manifests: MANIFESTS });
  const page = await search.search(aQuery());
  assert.deepEqual(ids(page), [MAIL, 'mcp_server:pdf-tables@1.1.0', 'mcp_server:pdf-tables@1.0.0']);
  assert.equal(page.total, 3);
  assert.deepEqual(Object.keys(page), ['items', 'total']);
  for (const item of page.items) {
    const { score_lexical, score_semantic, score_quality, score_recency, score_final } = item;
    assert.deepEqual([score_lexical, score_semantic, score_quality, score_recency, score_final], [0, 0, 0, 0, 0]);
    assert.equal(item.fit_reason, null);
  }
  assert.deepEqual(
    page.items.map(({ version_count }) => version_count),
    [1, 2, 2],
  );
  assert.deepEqual(ids(await search.search(aQuery({ versions: 'latest' }))), [MAIL, 'mcp_server:pdf-tables@1.1.0']);
  const all = await search.search(aQuery({ filters: { ...NO_FILTERS, includeInactive: true } }));
  assert.equal(all.total, 4);
});

for (const text of ['', '  ', '\n\t', '\u0000', '\u0007 \u0000']) {
  test(`list: ${JSON.stringify(text)} is not a query`, async (t) => {
    const { search, engine } = await testSearch(t, { manifests: MANIFESTS });
    assert.equal((await search.search(aQuery({ text }))).total, 3);
    assert.equal(engine.requests.length, 0);
  });
}

test('search: shows entities with their scores and links', async (t) => {
  const { search, engine } = await testSearch(t, { manifests: MANIFESTS });
  const page = SearchPage.parse(await search.search(aQuery({ text: ' reads\u0000mails ' })));
  assert.equal(engine.requests[0]?.text, 'reads mails');
  assert.equal(engine.requests[0]?.versions, 'latest');
  assert.equal(page.mode, 'hybrid');
  assert.deepEqual(page.items[0], {
    id: MAIL,
    type: 'tool',
    name: 'mail',
    title: null,
    version: '1.0.0',
    version_count: 1,
    summary: 'Reads mails.',
    capabilities: ['Inbox'],
    frameworks: [],
    providers: [],
    tags: ['mail'],
    transports: [],
    license: 'Apache-2.0',
    created_at: '2026-06-01T12:00:00.000Z',
    status: 'active',
    score_lexical: 1,
    score_semantic: 0,
    score_quality: 0.5,
    score_recency: 0.5,
    score_final: 1,
    fit_reason: null,
    manifest_url: 'https://hub.example/catalog/manifest/tool:mail@1.0.0',
    install_url: 'https://hub.example/catalog/install?id=tool:mail@1.0.0',
  });
});

test('search: adds snippets, reasons, facets and explanations only on request', async (t) => {
  const { search } = await testSearch(t, { manifests: MANIFESTS });
  const asked = { withSnippets: true, withFitReason: true, withFacets: true, explain: true };
  const page = await search.search(aQuery({ text: 'invoices mails', ...asked }));
  const [item] = page.items;
  assert.match(item?.snippet ?? '', /^Reads mails\. It also/);
  assert.equal(item?.fit_reason, 'Mentions “invoices” and “mails”: “Finds invoices in mails.”');
  assert.deepEqual(item?.explanation, { words: 2 });
  assert.deepEqual(page.facets?.type, [{ value: 'tool', count: 1 }]);
  assert.deepEqual(page.facets?.capability, [
    { value: 'inbox', count: 1 },
    { value: 'mail', count: 1 },
  ]);
});

test('search: an entity without any text has no snippet', async (t) => {
  const { search } = await testSearch(t, { manifests: [{ type: 'tool', id: 'bare', version: '1' }] });
  const page = await search.search(aQuery({ text: 'bare', withSnippets: true, withFitReason: true }));
  assert.equal('snippet' in (page.items[0] ?? {}), false);
  assert.equal(page.items[0]?.fit_reason, 'Has “bare” in its name or tags.');
});

const limits: [SearchSettings['profile'], number | undefined, number][] = [
  ['general', undefined, 20],
  ['general', 100, 100],
  ['general', 3, 3],
  ['public', undefined, 5],
  ['public', 100, 5],
  ['public', 3, 3],
];
for (const [profile, limit, shown] of limits) {
  test(`search: the ${profile} profile shows ${shown} ${limit ? `for a limit of ${limit}` : 'without a limit'}`, async (t) => {
    const { search } = await testSearch(t, { manifests: many(120), settings: { profile } });
    for (const text of ['', 'number']) {
      const page = await search.search(aQuery({ text, limit }));
      assert.equal(page.items.length, shown);
      assert.equal(page.total, 120);
    }
  });
}

test('search: pages have no gaps or overlaps, and scores descend', async (t) => {
  const { search } = await testSearch(t, { manifests: many(120) });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('', 'number', 'number 7', '1 2 3', 'e5 number'),
      fc.integer({ min: 1, max: 100 }),
      fc.constantFrom('latest' as const, 'all' as const),
      async (text, limit, versions) => {
        const seen: string[] = [];
        const scores: number[] = [];
        for (let offset = 0; ; offset += limit) {
          const page = await search.search(aQuery({ text, limit, offset, versions }));
          if (page.items.length === 0) {
            assert.equal(seen.length, page.total);
            break;
          }
          seen.push(...ids(page));
          scores.push(...page.items.map(({ score_final }) => score_final));
        }
        assert.equal(new Set(seen).size, seen.length);
        assert.deepEqual(
          scores,
          scores.toSorted((a, b) => b - a),
        );
      },
    ),
    { numRuns: 30 },
  );
});

test('search: a page past the end is empty and has the total', async (t) => {
  const { search } = await testSearch(t, { manifests: MANIFESTS });
  for (const text of ['', 'reads']) {
    const { total, items } = await search.search(aQuery({ text, offset: 1_000_000_000 }));
    assert.deepEqual([items, total > 0], [[], true]);
  }
});

test('search: omits entities removed after ranking', async (t) => {
  const { search, engine } = await testSearch(t, { manifests: MANIFESTS });
  engine.findable.push({ uid: 'tool:gone@1.0.0', text: 'reads mails' });
  const page = await search.search(aQuery({ text: 'reads mails' }));
  assert.ok(!ids(page).includes('tool:gone@1.0.0'));
});

test('search: ranks the same query once until the catalog, the index or the day changes', async (t) => {
  const { search, engine, world, save } = await testSearch(t, { manifests: MANIFESTS });
  const ranked = async () => {
    await search.search(aQuery({ text: 'reads' }));
    return engine.requests.length;
  };
  assert.equal(await ranked(), 1);
  await search.search(aQuery({ text: 'reads', offset: 1, limit: 1, withSnippets: true }));
  assert.equal(await ranked(), 1);
  await save([aManifest({ id: 'new' })]);
  assert.equal(await ranked(), 2);
  engine.move();
  assert.equal(await ranked(), 3);
  world.setTime('2026-06-02T12:00:00.000Z');
  assert.equal(await ranked(), 4);
});

test('tag: a matching one saves the search; it changes with everything the answer depends on', async (t) => {
  const { search, engine, world, save } = await testSearch(t, { manifests: MANIFESTS });
  const tagOf = async (fields: Partial<SearchQuery> = {}) =>
    (await search.searchUnlessKnown(aQuery({ text: 'reads', ...fields }), () => true)).tag;
  const first = await tagOf();
  assert.equal(await tagOf(), first);
  assert.equal(await tagOf({ text: ' reads\n', limit: 20 }), first, 'the same query in another spelling');
  assert.equal(engine.requests.length, 0);
  const others = [
    await tagOf({ text: 'mails' }),
    await tagOf({ limit: 7 }),
    await tagOf({ offset: 1 }),
    await tagOf({ withSnippets: true }),
    await tagOf({ mode: 'keyword' }),
    await tagOf({ filters: { ...NO_FILTERS, type: 'tool' } }),
  ];
  engine.move();
  others.push(await tagOf());
  world.setTime('2026-06-02T12:00:00.000Z');
  others.push(await tagOf());
  await save([aManifest({ id: 'new' })]);
  others.push(await tagOf());
  assert.equal(new Set([first, ...others]).size, others.length + 1);

  const answer = await search.searchUnlessKnown(aQuery({ text: 'reads' }), (tag) => tag === first);
  assert.equal(answer.page?.total, 3);
  assert.ok(answer.tag);
});

const only = (found: { lexical: number; final: number }, mode: Ranking['mode'] = 'hybrid') => ({ found, mode });
for (const { is, found, mode } of [
  { is: true, ...only({ lexical: 0, final: 0.3 }) },
  { is: undefined, ...only({ lexical: 0.01, final: 0.3 }) },
  { is: undefined, ...only({ lexical: 0, final: 0.86 }) },
  { is: undefined, ...only({ lexical: 0, final: 0.3 }, 'semantic') },
]) {
  test(`search: in ${mode} mode, ${JSON.stringify(found)} ${is ? 'matches' : 'does not match'} only by meaning`, async (t) => {
    const { search, engine } = await testSearch(t, { manifests: MANIFESTS });
    const hits = [{ uid: MAIL, semantic: 0.5, quality: 0, recency: 0, versionCount: 1, ...found }];
    engine.rank = async () => ({ hits, total: 1, mode, isLasting: true });
    const page = SearchPage.parse(await search.search(aQuery({ text: 'qwxzv flurbz' })));
    assert.deepEqual([page.items.length, page.only_by_meaning], [1, is]);
  });
}

test('tag: the tag of a list changes only with the catalog', async (t) => {
  const { search, engine, world, save } = await testSearch(t, { manifests: MANIFESTS });
  const tagOf = async () => (await search.searchUnlessKnown(aQuery(), () => true)).tag;
  const first = await tagOf();
  engine.move();
  world.setTime('2026-06-02T12:00:00.000Z');
  assert.equal(await tagOf(), first);
  await save([aManifest({ id: 'new' })]);
  assert.notEqual(await tagOf(), first);
});

test('list: is answered from memory until the catalog changes', async (t) => {
  const { search, save } = await testSearch(t, { manifests: MANIFESTS });
  const asked = (fields: Partial<SearchQuery> = {}) => search.searchUnlessKnown(aQuery(fields), () => false);
  const first = await asked();
  assert.ok(first.page && first.tag);
  assert.equal((await asked()).page, first.page, 'identical, not merely equal');
  assert.equal((await asked()).tag, first.tag);
  assert.equal((await asked({ limit: 1 })).page?.items.length, 1);
  await save([aManifest({ id: 'new' })]);
  const { page } = await asked();
  assert.equal(page?.total, 4);
  assert.ok(page?.items.some(({ id }) => id === 'mcp_server:new@1.0.0'));
});

test('tag: a partly failed answer has none', async (t) => {
  const { search, engine } = await testSearch(t, { manifests: MANIFESTS });
  engine.degrade('The model does not answer; words alone were looked for.');
  const { tag, page } = await search.searchUnlessKnown(aQuery({ text: 'reads' }), () => false);
  assert.equal(tag, undefined);
  assert.equal(page?.degraded, 'The model does not answer; words alone were looked for.');
});

test('rerank: without a model keeps the order, and says so', async (t) => {
  const { search } = await testSearch(t, { manifests: MANIFESTS });
  const plain = await search.search(aQuery({ text: 'reads' }));
  assert.equal(plain.rerank, undefined);
  const page = await search.search(aQuery({ text: 'reads', rerank: 'llm' }));
  assert.equal(page.rerank, 'unavailable');
  assert.deepEqual(ids(page), ids(plain));
  assert.ok((await search.searchUnlessKnown(aQuery({ text: 'reads', rerank: 'llm' }), () => false)).tag);
});

test('rerank: the model orders the best fifty, scores descend, and all pages agree', async (t) => {
  const { search, llm } = await testSearch(t, { manifests: many(70), withLlm: true });
  llm?.answer(({ data }) => JSON.stringify({ order: data.candidates.map(({ id }) => id).toReversed() }));
  const query = aQuery({ text: 'number 7', limit: 100 });
  const plain = await search.search(query);
  const page = await search.search({ ...query, rerank: 'llm' });
  assert.equal(page.rerank, 'applied');
  assert.equal(llm?.questions[0]?.data.candidates.length, 50);
  assert.deepEqual(ids(page).slice(0, 50), ids(plain).slice(0, 50).toReversed());
  assert.deepEqual(ids(page).slice(50), ids(plain).slice(50));
  const finals = page.items.map(({ score_final }) => score_final);
  assert.deepEqual(
    finals,
    finals.toSorted((a, b) => b - a),
  );
  const pages = [];
  for (const offset of [0, 30, 60]) pages.push(await search.search({ ...query, rerank: 'llm', limit: 30, offset }));
  assert.deepEqual(pages.flatMap(ids), ids(page));
  assert.equal(llm?.questions.length, 1, 'one request for all pages');
});

test('rerank: the setting is the default of a query, and none turns it off', async (t) => {
  const { search, llm } = await testSearch(t, { manifests: MANIFESTS, withLlm: true, settings: { rerank: 'llm' } });
  llm?.answer(({ data }) => JSON.stringify({ order: data.candidates.map(({ id }) => id) }));
  assert.equal((await search.search(aQuery({ text: 'reads' }))).rerank, 'applied');
  assert.equal((await search.search(aQuery({ text: 'reads', rerank: 'none' }))).rerank, undefined);
  assert.equal((await search.search(aQuery())).rerank, undefined, 'a list has its own order');
});

test('rerank and reasons: a failing model affects neither the search nor its order', async (t) => {
  const { search, llm } = await testSearch(t, { manifests: MANIFESTS, withLlm: true });
  llm?.answer(() => 'I would rather not.');
  const plain = await search.search(aQuery({ text: 'reads mails' }));
  const query = aQuery({ text: 'reads mails', rerank: 'llm', withFitReason: true });
  const { page, tag } = await search.searchUnlessKnown(query, () => false);
  assert.equal(page?.rerank, 'failed');
  assert.equal(tag, undefined);
  assert.deepEqual(page && ids(page), ids(plain));
  assert.equal(page?.items[0]?.fit_reason, 'Mentions “reads” and “mails”: “Reads mails.”');
  assert.equal(llm?.questions.length, 1, 'no search waits twice for an unusable model');
  await search.search(query);
  await search.search(query);
  assert.equal((await search.search(query)).rerank, 'unavailable', 'it is paused for a while');
});

test('reasons: are written by the model if one is configured', async (t) => {
  const { search, llm } = await testSearch(t, { manifests: MANIFESTS, withLlm: true });
  llm?.answer(({ data }) =>
    JSON.stringify({ reasons: data.candidates.slice(0, 1).map(({ id }) => ({ id, reason: 'It reads.' })) }),
  );
  const page = await search.search(aQuery({ text: 'reads mails', withFitReason: true }));
  assert.equal(page.items[0]?.fit_reason, 'It reads.');
  assert.match(page.items[1]?.fit_reason ?? '', /^Mentions “reads”/);
});

function many(count: number): JsonObject[] {
  return Array.from({ length: count }, (_, index) =>
    aManifest({ id: `e${index}`, name: `e${index}`, summary: `Number ${index} of many.`, description: '' }),
  );
}

function ids({ items }: SearchPage): string[] {
  return items.map(({ id }) => id);
}
