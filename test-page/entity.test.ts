import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { JsonObject } from '../src/lib/json.ts';
import { aManifest } from '../test/support/builders.ts';
import { axeFindings, browserTest, overflow, screenshot, until } from './stage/stage.ts';

const PDF = '/entities/mcp_server:mcp.io-example-docs-pdf-tables.stdio.4c1f07a9be@0.8.3';
const demo = { demo: true, isShared: true };
const entries: JsonObject[] = [];
/** All entries that the tests below use, one per test. */
const own = { manifests: entries, isShared: true };

/** Adds an entry for one test and returns the address of its page. */
function entry(id: string, fields: JsonObject): string {
  entries.push(aManifest({ id, name: id, ...fields }));
  return `/entities/mcp_server:${id}`;
}

browserTest('entity: a deep link shows everything, also after a reload', demo, async ({ open }) => {
  const page = await open(PDF);
  for (const _ of ['first', 'reloaded']) {
    await page.getByRole('heading', { level: 1, name: 'PDF Tables' }).waitFor();
    for (const name of [
      'What it does',
      'Use it',
      'Readme',
      'What it installs',
      'Registration',
      'Where it comes from',
    ]) {
      await page.getByRole('heading', { level: 2, name }).waitFor();
    }
    await page.reload();
  }
  await page.getByRole('heading', { level: 1 }).waitFor();
  assert.equal(await page.title(), 'PDF Tables 0.8.3 · Catalog Hub');
  const text = await page.locator('main').innerText();
  for (const part of [
    'License\nMIT',
    'example-pdf-tables',
    'names its license',
    '100 of 100',
    'list_tables',
    'It runs as a local process (stdio)',
  ]) {
    assert.ok(text.includes(part), part);
  }
  const repository = page.getByRole('link', { name: 'repository' });
  assert.equal(await repository.getAttribute('href'), 'https://git.example.org/docs/pdf-tables');
  assert.match((await repository.getAttribute('rel')) ?? '', /noopener noreferrer/);
});

browserTest('entity: versions link to each other, and Back returns', demo, async ({ open }) => {
  const page = await open('/entities/mcp_server:postgres-reader@1.10.0');
  const versions = page.getByRole('region', { name: 'Versions' });
  await versions.getByRole('link', { name: '1.2.0' }).click();
  await page.locator('.entity-id', { hasText: '@1.2.0' }).waitFor();
  assert.match(page.url(), /postgres-reader@1\.2\.0$/);
  await page.goBack();
  await page.locator('.entity-id', { hasText: '@1.10.0' }).waitFor();
  assert.equal(await versions.locator('[aria-current=page]').textContent(), '1.10.0');
});

browserTest('entity: a hub that is unreachable for a while is retried automatically', demo, async ({ open }) => {
  const page = await open('/?q=pdf+tables', { expects: /ERR_CONNECTION_REFUSED/ });
  await page.route(/\/catalog\/entities/, (route) => route.abort('connectionrefused'));
  await page.locator('.result-title a').first().click();
  const alert = page.getByRole('alert');
  await alert.getByText('as soon as the hub answers').waitFor();
  await page.waitForTimeout(3_500);
  assert.equal(await alert.count(), 1, 'it stays until a response arrives');
  await page.unroute(/\/catalog\/entities/);
  await page.getByRole('heading', { level: 1, name: 'PDF Tables' }).waitFor();
  assert.equal(await alert.count(), 0);
});

browserTest(
  'entity: on a phone, how to use it comes first, then the facts, then the readme',
  demo,
  async ({ open }) => {
    const page = await open(PDF, { viewport: { width: 390, height: 844 } });
    const top = async (name: string) => (await page.getByRole('heading', { level: 2, name }).boundingBox())?.y ?? 0;
    await page.getByRole('heading', { level: 2, name: 'Versions' }).waitFor();
    const order = ['Use it', 'At a glance', 'Versions', 'What it installs'];
    const tops = await Promise.all(order.map(top));
    assert.deepEqual(
      tops,
      tops.toSorted((one, other) => one - other),
    );
  },
);

browserTest('entity: commands and configurations can be copied', demo, async ({ open }) => {
  const page = await open(PDF, { permissions: ['clipboard-read', 'clipboard-write'] });
  const copied = () => page.evaluate('navigator.clipboard.readText()') as Promise<string>;
  await page.getByRole('button', { name: 'Copy the install command' }).click();
  await page.getByText('Copied').waitFor();
  const installed =
    /^hub install mcp_server:mcp\.io-example-docs-pdf-tables\.stdio\.4c1f07a9be@0\.8\.3 --hub http:\/\/127\.0\.0\.1:\d+/;
  assert.match(await copied(), new RegExp(`${installed.source} --client claude$`));
  for (const [name, end] of [
    ['Codex', ' --client codex$'],
    ['Cursor', ' --client cursor$'],
  ] as const) {
    await page.getByRole('tab', { name }).click();
    await page.getByRole('button', { name: 'Copy the install command' }).click();
    await until(page, `navigator.clipboard.readText().then((text) => /${end}/.test(text))`);
    assert.match(await copied(), new RegExp(`${installed.source}${end}`));
  }

  for (const [client, section] of [
    ['Claude', 'mcpServers'],
    ['Cursor', 'mcpServers'],
    ['VS Code', 'servers'],
  ] as const) {
    await page.getByRole('tab', { name: client }).click();
    const byHand = page.locator('.client-config');
    if ((await byHand.getAttribute('open')) === null) await byHand.locator('summary').click();
    await page.getByRole('button', { name: `Copy the configuration for ${client}` }).click();
    await until(page, `navigator.clipboard.readText().then((text) => text.includes('"${section}"'))`);
    const config = JSON.parse(await copied());
    assert.equal(config[section]['pdf-tables'].command, 'uvx');
  }
  await page.getByRole('tab', { name: 'Codex' }).press('ArrowRight');
  assert.equal(await page.getByRole('tab', { name: 'Claude' }).getAttribute('aria-selected'), 'true');
  await page.keyboard.press('End');
  assert.equal(await page.getByRole('tab', { name: 'Codex' }).getAttribute('aria-selected'), 'true');
  await page.keyboard.press('Home');
  assert.equal(await page.getByRole('tab', { name: 'Claude' }).getAttribute('aria-selected'), 'true');
});

const AS_READ = entry('as-read', { extra: { deep: [1, 2] } });

browserTest('entity: shows the manifest as ingested', own, async ({ open }) => {
  const page = await open(AS_READ);
  await page.locator('.manifest > summary').click();
  const shown = page.locator('.manifest code').first();
  await shown.waitFor();
  assert.deepEqual(JSON.parse((await shown.textContent()) ?? ''), entries[0]);
});

browserTest('entity: an unknown entry is reported, with a link onward', demo, async ({ open }) => {
  const page = await open('/entities/mcp_server:weather/almanac@9.9.9', { expects: /404/ });
  await page.getByText('Entry not found').waitFor();
  await page.getByRole('link', { name: 'Search for “weather almanac”' }).click();
  await page.locator('.result-title', { hasText: 'Weather Almanac' }).waitFor();
});

browserTest('entity: a deprecated entry says so, and why', demo, async ({ open }) => {
  const page = await open('/entities/mcp_server:wiki-bridge');
  await page.getByText('This version is deprecated').waitFor();
  await page.getByRole('heading', { name: 'How well it is described' }).waitFor();
  assert.ok((await page.locator('.reasons .unmet').count()) > 0, 'missing values are named too');
});

const readme =
  '# Pictures\n\n![a chart](https://pictures.example/chart.png) and <img src="https://pictures.example/two.png" alt="two"> and ![three](docs/three.png) and ![out of it](../../../../four.png)';
const PICTURES = entry('pictures', { readme, source_url: 'https://github.com/o/r' });

browserTest('entity: pictures of a readme and its repository load only after a click', own, async ({ open }) => {
  const page = await open(`${PICTURES}?images=remote`, {
    expects: /request to https:\/\/(pictures\.example|github\.com)/,
  });
  const loaded: string[] = [];
  await page.route(/^https:\/\/(pictures\.example|github\.com)\//, async (route) => {
    loaded.push(route.request().url());
    await route.fulfill({
      contentType: 'image/svg+xml',
      body: '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"/>',
    });
  });
  await page.reload();
  await page.getByText('a chart').waitFor();
  await page.waitForTimeout(300);
  assert.deepEqual(loaded, [], 'a URL parameter, which anybody can send, is not consent');

  await page.getByRole('button', { name: 'Load pictures' }).click();
  const picture = page.getByRole('img', { name: 'a chart' });
  await picture.waitFor();
  assert.match(page.url(), /images=remote/);
  await until(page, '[...document.images].every((image) => image.naturalWidth === 40)');
  assert.deepEqual(loaded.toSorted(), [
    'https://github.com/o/r/raw/HEAD/docs/three.png',
    'https://pictures.example/chart.png',
    'https://pictures.example/two.png',
  ]);
  await page.getByText('out of it').waitFor();
  assert.equal(await picture.getAttribute('referrerpolicy'), 'no-referrer');
});

entries.push(aManifest({ type: 'tool', id: 'a/b@c#d?e%f', title: 'Odd' }));

browserTest('entity: an id with slashes and special characters has a working address', own, async ({ open }) => {
  const page = await open('/');
  await page.getByRole('link', { name: 'Odd' }).click();
  await page.locator('.entity-id', { hasText: 'tool:a/b@c#d?e%f@1.0.0' }).waitFor();
  await page.reload();
  await page.locator('.entity-id', { hasText: 'tool:a/b@c#d?e%f@1.0.0' }).waitFor();
});

const INSTALLING = entry('installing', {
  license: 'SEE LICENSE IN LICENSE',
  artifacts: [
    { kind: 'other', spec: { package: '@io.example/thing', registry: 'npm', version: '3.0.0' } },
    { kind: 'other', spec: { transport: 'STREAMABLE-HTTP', url: 'https://a.example/mcp' } },
  ],
  adapters: [
    { framework: 'claude', template_key: 'mcp' },
    { framework: 'windsurf', template_key: 'mcp' },
    { framework: 'langgraph', template_key: 'node', path: 'src/node.py' },
    { framework: 'crewai', template_key: 'tool' },
  ],
  mcp_registration: { server: { transport: 'HTTP', url: 'https://a.example/mcp' } },
});

browserTest('entity: says in words what it installs, and marks Search as current', own, async ({ open }) => {
  const page = await open(INSTALLING);
  const parts = page.getByRole('region', { name: 'What it installs' }).getByRole('listitem');
  await parts.first().waitFor();
  assert.deepEqual(await parts.allInnerTexts(), [
    'npm package @io.example/thing 3.0.0',
    'Connects to https://a.example/mcp',
    'Writes .mcp.json for Claude',
    'Shows what to add to ~/.codeium/windsurf/mcp_config.json for Windsurf',
    'Writes src/node.py for langgraph',
    'Writes glue code for crewai',
  ]);
  const facts = await page.getByRole('region', { name: 'At a glance' }).innerText();
  assert.match(facts, /Transport\s+Streamable HTTP/);
  assert.match(facts, /License\s+See the license file/);
  assert.equal(await page.locator('.top nav [aria-current]').innerText(), 'Search');
  const sizes = await page.evaluate(
    "[...document.querySelectorAll('[aria-labelledby=use-it] summary')].map((each) => getComputedStyle(each).fontSize)",
  );
  assert.deepEqual(sizes, ['16px', '16px']);
  await screenshot(page, 'entity-installs');
});

const PACKED = entry('packed', {
  packages: [{ registryType: 'npm', identifier: '@io.example/thing', version: '3.0.0', transport: { type: 'stdio' } }],
});

browserTest('entity: says what it installs and runs if the manifest lists only packages', own, async ({ open }) => {
  const page = await open(PACKED);
  const parts = page.getByRole('region', { name: 'What it installs' }).getByRole('listitem');
  await parts.first().waitFor();
  assert.deepEqual(await parts.allInnerTexts(), [
    'npm package @io.example/thing 3.0.0',
    'Runs npx -y @io.example/thing@3.0.0',
  ]);
});

const LONG_NAME = entry('long-name', { name: 'io.github.example/playwright-mcp.server', title: undefined });

browserTest('entity: on a phone, a long name breaks between its words', own, async ({ open }) => {
  const page = await open(LONG_NAME, { viewport: { width: 375, height: 800 } });
  const heading = page.getByRole('heading', { level: 1, name: 'io.github.example/playwright-mcp.server' });
  await heading.waitFor();
  const words = (await page.evaluate(`[...document.querySelector('h1').childNodes].flatMap((part) => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return part.textContent ? [[part.textContent, range.getClientRects().length]] : [];
  })`)) as [string, number][];
  assert.equal(words.map(([text]) => text).join('|'), 'io.|github.|example/|playwright-|mcp.|server');
  for (const [text, number] of words) assert.equal(number, 1, `${text} is on one line`);
  await screenshot(page, 'entity-long-name');
});

const SECRETIVE = entry('secretive', {
  source_url: 'https://me:hunter2@a.example/manifest.json',
  artifacts: [
    { kind: 'zip', spec: { url: 'https://me:hunter2@a.example/a.zip?token=hunter2', headers: { 'X-A': 'hunter2' } } },
  ],
  provenance: { source: 'https://me:hunter2@a.example/', api_key: 'hunter2' },
  mcp_registration: {
    server: {
      transport: 'HTTP',
      url: 'https://me:hunter2@a.example/mcp?api_key=hunter2',
      headers: { Authorization: 'Bearer hunter2', 'X-Team': 'hunter2' },
      auth: { type: 'bearer', token: 'hunter2' },
      auth_value: 'hunter2',
    },
  },
});

browserTest('entity: credentials of a registration are nowhere on the page', own, async ({ open }) => {
  const page = await open(SECRETIVE);
  const registration = page.getByRole('region', { name: 'Registration' });
  await registration.getByText('As in the manifest').click();
  await registration.getByText('look like secrets or logins are left out').waitFor();
  for (const client of ['Claude', 'Cursor', 'VS Code']) {
    await page.getByRole('tab', { name: client }).click();
    const byHand = page.locator('.client-config');
    if ((await byHand.getAttribute('open')) === null) await byHand.locator('summary').click();
    assert.doesNotMatch(await page.locator('main').innerText(), /hunter2/, client);
  }
  assert.match(await page.getByRole('region', { name: 'Registration' }).innerText(), /a\.example\/mcp\?api_key=\*\*\*/);
  const html = (await page.evaluate('document.documentElement.outerHTML')) as string;
  assert.ok(!html.includes('hunter2'), 'not in an attribute either');
});

entry('stale', { title: 'Stale' });

browserTest('entity: a registered server whose update failed shows both', own, async ({ open }) => {
  const page = await open('/');
  await page.route(/\/catalog\/entities\//, async (route) => {
    const response = await route.fetch();
    const json = {
      ...(await response.json()),
      gateway_registered_at: '2026-05-01T08:00:00.000Z',
      gateway_error: 'The gateway answered 422: no such transport.',
    };
    await route.fulfill({ response, json });
  });
  await page.getByRole('link', { name: 'Stale' }).click();
  const region = page.getByRole('region', { name: 'Registration' });
  await region.getByText('Registered 1 May 2026').waitFor();
  const text = await region.innerText();
  assert.match(text, /its update failed/);
  assert.match(text, /Why its update failed\s+The gateway answered 422/i);
  assert.doesNotMatch(text, /Why it is not registered/i);
});

const guide = [
  '[To the end](#the-end--of-it) · [nowhere](#no-such-place) · [a file](docs/guide.md) · [away](//evil.example/x)',
  ...Array.from({ length: 60 }, (_, index) => `Paragraph ${index}: ${'words '.repeat(80)}`),
  '## The end & *of it*',
  'The last words.',
].join('\n\n');

const GUIDE = entry('guide', { readme: guide, source_url: 'https://github.com/example/pdf' });

browserTest('entity: links of a readme lead to its headings or its repository only', own, async ({ open }) => {
  const page = await open(GUIDE);
  const readme = page.locator('.markdown');
  const link = readme.getByRole('link', { name: 'To the end' });
  await link.click();
  await until(page, 'document.activeElement.id === "readme-the-end--of-it"');
  await until(page, 'document.activeElement.getBoundingClientRect().top < innerHeight');
  assert.match(page.url(), /#readme-the-end--of-it$/);
  await page.goBack();
  await until(page, 'scrollY < 1000');
  assert.equal(
    await readme.getByRole('link', { name: 'a file' }).getAttribute('href'),
    'https://github.com/example/pdf/blob/HEAD/docs/guide.md',
  );
  assert.equal(await readme.getByRole('link').count(), 2, 'a link to nowhere is text');
  await page.goto(`${page.url().split('#')[0]}#readme-the-end--of-it`);
  await page.reload();
  await until(page, 'document.activeElement.id === "readme-the-end--of-it"');
});

const chapters = [
  '[About us](#über-uns) · [Again](#usage-1)',
  ...['## Usage', '## Über uns', '## Usage', '## The rest'].flatMap((heading) => [
    heading,
    ...Array.from({ length: 12 }, (_, index) => `Paragraph ${index}: ${'words '.repeat(80)}`),
  ]),
].join('\n\n');

const CHAPTERS = entry('chapters', { readme: chapters });

browserTest('entity: a heading of the readme that was clicked is restored after a reload', own, async ({ open }) => {
  const page = await open(CHAPTERS);
  // The page has nothing to scroll to at first.
  await page.route(/\/catalog\/entities\//, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    await route.continue().catch(() => {});
  });
  for (const [name, id] of [
    ['About us', 'readme-über-uns'],
    ['Again', 'readme-usage-1'],
  ] as const) {
    const top = `Math.abs(document.getElementById(${JSON.stringify(id)}).getBoundingClientRect().top)`;
    await page.locator('.markdown').getByRole('link', { name }).click();
    await until(page, `scrollY > 500 && ${top} < 120`);
    // Long enough to store the position.
    await page.waitForTimeout(400);
    await page.reload();
    await page.locator('.markdown h3').first().waitFor();
    // Long enough for all scrolling to end.
    await page.waitForTimeout(1_500);
    assert.ok(await page.evaluate(`scrollY > 500 && ${top} < 120`), `${id}: at ${await page.evaluate('scrollY')}`);
  }
});

browserTest('entity: an older version and a pre-release lead to the newest stable one', demo, async ({ open }) => {
  for (const version of ['1.2.0', '2.0.0-beta.1']) {
    const page = await open(`/entities/mcp_server:postgres-reader@${version}`);
    await page.getByText('The newest stable version is 1.10.0').waitFor();
    await page.getByRole('link', { name: 'Open 1.10.0' }).click();
    await page.locator('.entity-head').getByText('mcp_server:postgres-reader@1.10.0').waitFor();
    assert.equal(await page.getByText('The newest stable version').count(), 0);
  }
});

browserTest('entity: shows how to install the command', demo, async ({ open }) => {
  const page = await open(PDF);
  const use = page.getByRole('region', { name: 'Use it' });
  await use.getByText('Run it in your project folder').waitFor();
  await use.getByText('Get the hub command').click();
  const text = await use.innerText();
  const { scripts } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
  assert.ok(scripts['pack:cli']);
  assert.ok(text.includes('npm run pack:cli') && text.includes('npm install -g ./catalog-hub-cli-*.tgz'));
});

browserTest('entity: the page shows what it is loading', demo, async ({ open }) => {
  const page = await open('/');
  await page.locator('.result').first().waitFor();
  const held = Promise.withResolvers<void>();
  await page.route(/\/catalog\/(entities|search)/, async (route) => {
    await held.promise;
    await route.continue();
  });
  for (const [path, words] of [
    [PDF, 'Loading…'],
    ['/', 'Loading…'],
  ] as const) {
    await page.evaluate(`location.assign(${JSON.stringify(path)})`);
    const waiting = page.getByRole('status').filter({ hasText: words });
    await waiting.waitFor();
    await until(page, 'getComputedStyle(document.querySelector(".waiting")).opacity === "1"');
  }
  await screenshot(page, 'search-waiting');
  held.resolve();
  // The placeholder for results has the same class, but no title.
  await page.locator('.result-title').first().waitFor();
  assert.equal(await page.locator('.waiting').count(), 0);
});

const section = (index: number) =>
  `## Section ${index}\n\nSome *words* about [it](https://a.example/${index}). ${'And more words. '.repeat(120)}\n`;
const longReadme = Array.from({ length: 100 }, (_, index) => section(index)).join('\n');

const LONG = entry('long', { readme: longReadme });

browserTest('entity: shows the start of a long readme, then more, and all of it as source', own, async ({ open }) => {
  const page = await open(LONG, { viewport: { width: 390, height: 844 } });
  const headings = page.locator('.markdown h3');
  await headings.first().waitFor();
  assert.equal(await headings.count(), 20);
  // By key: the content above may still move, and a click would miss.
  await page.getByRole('button', { name: 'Show more of the readme' }).press('Enter');
  await headings.nth(40).waitFor();
  assert.equal(await headings.last().textContent(), `Section ${(await headings.count()) - 1}`);
  await page.getByText('only its beginning is shown').waitFor();
  await page.getByText('Show the full text').press('Enter');
  const pieces = page.getByRole('region', { name: 'The readme as it was written' }).locator('pre');
  await pieces.first().waitFor();
  assert.equal((await pieces.allTextContents()).join(''), longReadme.trim());
  assert.ok((await overflow(page)) <= 0);
  assert.deepEqual(await axeFindings(page), []);
});
