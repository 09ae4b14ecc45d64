import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shownUrl } from '../../../src/catalog/server.ts';
import {
  acceptableName,
  acceptableText,
  acceptableToolName,
  comparableUrl,
  markedName,
  slugOf,
} from '../../../src/gateway/items/names.ts';
import { anyText } from '../../lib/any-text.ts';
import { cpuMs } from '../../support/in-time.ts';
import { slugify } from '../../support/servers/fake-gateway/rows.ts';

const nameCases = [
  { name: 'io.github.owner/thing', expected: 'io.github.owner-thing' },
  { name: '@scope/pkg: tool', expected: 'scope-pkg- tool' },
  { name: 'mcp_server:x@1.0', expected: 'mcp_server-x-1.0' },
  { name: 'Été à Paris', expected: 'Ete a Paris' },
  { name: '  -.padded.-  ', expected: 'padded' },
  { name: '天气服务', expected: 'unnamed' },
  { name: '', expected: 'unnamed' },
  { name: '___', expected: 'unnamed' },
  { name: 'a'.repeat(300), expected: 'a'.repeat(255) },
];
for (const { name, expected } of nameCases) {
  test(`acceptableName: '${name.slice(0, 30)}' → '${expected.slice(0, 30)}'`, () => {
    assert.equal(acceptableName(name), expected);
  });
}

const slugCases = [
  { name: 'My_Tool', expected: 'my-tool' },
  { name: 'Hub A', expected: 'hub-a' },
  { name: "Bob's tools", expected: 'bobs-tools' },
  { name: 'a.b/c  d', expected: 'a-b-c-d' },
  { name: '--x--', expected: 'x' },
  { name: 'Größe', expected: 'gro-e' },
];
for (const { name, expected } of slugCases) {
  test(`slugOf: '${name}' → '${expected}'`, () => assert.equal(slugOf(name), expected));
}

test('acceptableName: every result is accepted by gateways and stays the same when applied twice', () => {
  fc.assert(
    fc.property(anyText(400), (text) => {
      const name = acceptableName(text);
      assert.match(name, /^[a-zA-Z0-9_.\- ]{1,255}$/);
      assert.equal(acceptableName(name), name);
      assert.notEqual(slugOf(name), '');
    }),
  );
});

test('acceptableToolName: every result is accepted by gateways', () => {
  fc.assert(
    fc.property(anyText(200), (text) => {
      const name = acceptableToolName(text);
      assert.match(name, /^[a-zA-Z0-9_][a-zA-Z0-9._/-]{0,127}$/);
      assert.equal(acceptableToolName(name), name);
    }),
  );
});

test('slugOf: agrees with the gateway for every name that the hub sends', () => {
  fc.assert(
    fc.property(anyText(40), (text) => {
      assert.equal(slugOf(acceptableName(text)), slugify(acceptableName(text)));
      assert.equal(slugOf(slugOf(text)), slugOf(text));
      assert.match(slugOf(text), /^([a-z0-9]+(-[a-z0-9]+)*)?$/);
    }),
  );
});

test('markedName: keeps the suffix, however long the name is', () => {
  fc.assert(
    fc.property(anyText(400), fc.stringMatching(/^[a-f0-9]{8}$/), (text, mark) => {
      const name = markedName(acceptableName(text), mark);
      assert.ok(name.endsWith(mark));
      assert.match(name, /^[a-zA-Z0-9_.\- ]{1,255}$/);
    }),
  );
});

test('acceptableText: removes everything that gateways treat as an attack', () => {
  assert.equal(acceptableText('Runs a && b || c; <b>bold</b> $(rm) x > y'), 'Runs a and b or c, bold $ (rm) x y');
  fc.assert(
    fc.property(fc.oneof(anyText(200), fc.stringMatching(/^[&|$(<>; a]{0,30}$/)), (text) => {
      const accepted = acceptableText(text);
      assert.doesNotMatch(accepted, /&&|\|\||\$\(|[<>|;]/);
      assert.ok(accepted.length <= 1000 && accepted.isWellFormed());
    }),
  );
});

const MEGABYTE = 1_000_000;
const HOSTILE_TEXTS = {
  'unclosed tags': '<'.repeat(MEGABYTE),
  'nested tags': '<a'.repeat(MEGABYTE / 2),
  'dollar signs': '$'.repeat(MEGABYTE),
  spaces: ' '.repeat(MEGABYTE),
  'expanding letters': '\ufdfa'.repeat(MEGABYTE / 3),
  'ampersands and bars': '&|'.repeat(MEGABYTE / 2),
};
for (const [shape, text] of Object.entries(HOSTILE_TEXTS)) {
  test(`names and texts: a megabyte of ${shape} is handled quickly`, async () => {
    const took = await cpuMs(() =>
      [acceptableText, acceptableName, acceptableToolName, slugOf].map((make) => make(text)),
    );
    assert.ok(took < 5_000, `${took} ms`);
  });
}

const urlCases = [
  { one: 'http://127.0.0.1:8000/sse', other: 'http://localhost:8000/sse', same: true },
  { one: 'https://H.example:443/mcp', other: 'https://h.example/mcp', same: true },
  { one: 'https://h.example', other: 'https://h.example/', same: true },
  { one: 'https://h.example/mcp', other: 'https://h.example/mcp?case=1', same: false },
  { one: 'https://h.example/mcp', other: 'https://h.example/mcp/', same: false },
  { one: 'no address', other: 'no address', same: true },
];
for (const { one, other, same } of urlCases) {
  test(`comparableUrl: ${one} ${same ? '=' : '≠'} ${other}`, () => {
    assert.equal(comparableUrl(one) === comparableUrl(other), same);
  });
}

test('shownUrl: removes user and password, and masks keys', () => {
  assert.equal(shownUrl('https://user:hunter2@h.example/{x}?a=b@c'), 'https://h.example/{x}?a=b@c');
  assert.equal(shownUrl('https://h.example/sse?api_key=hunter2&v=1'), 'https://h.example/sse?api_key=***&v=1');
  assert.equal(shownUrl('http://user:hunter2@bad host/'), 'http://bad host/');
  assert.equal(shownUrl('https://h.example/@scope'), 'https://h.example/@scope');
});
