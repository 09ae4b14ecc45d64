// Generated code parses and contains the manifest's values as text, whatever they are.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { parse } from 'yaml';
import { findTemplate } from '../../../src/install/adapters/templates.ts';
import type { InstallSubject } from '../../../src/install/subject.ts';
import type { JsonObject } from '../../../src/lib/json.ts';
import { aSubject, HOSTILE_TEXTS } from '../subjects.ts';
import { renderedFor } from './rendered.ts';

const PYTHON = ['langgraph/node', 'crewai/tool', 'autogen/tool'];
const REMOTE = { server: { transport: 'SSE', url: 'https://pdf.example.org/sse' } };
const COMMAND = {
  server: { transport: 'STDIO', exec: { cmd: ['uvx', 'pdf-tables'], env: { API_KEY: 'sk-123', LANG: 'de' } } },
};

function rendered(pair: string, subject: InstallSubject, params: JsonObject = {}): string {
  const [framework = '', key = ''] = pair.split('/');
  const result = renderedFor(framework, key, subject, params);
  assert.equal(result.kind, 'file');
  return result.kind === 'file' ? result.content : '';
}

/** All at once, because starting Python takes longer than parsing everything. */
function pythonConstants(sources: readonly string[]): { constants: unknown[]; imports: string[] }[] {
  const script = `
import ast, json, sys
def describe(source):
    tree = ast.parse(source)
    compile(source, "adapter.py", "exec")
    found = {"constants": [], "imports": []}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str): found["constants"].append(node.value)
        if isinstance(node, ast.Import): found["imports"] += [each.name for each in node.names]
        if isinstance(node, ast.ImportFrom): found["imports"].append(node.module)
    return found
print(json.dumps([describe(each) for each in json.load(sys.stdin)]))`;
  const answer = execFileSync('python3', ['-c', script], { input: JSON.stringify(sources), maxBuffer: 50_000_000 });
  return JSON.parse(answer.toString());
}

test('adapters: Python parses the code for every framework and connection', () => {
  const subjects = [REMOTE, COMMAND, null].map((mcp_registration) => aSubject({ mcp_registration, artifacts: [] }));
  const sources = PYTHON.flatMap((pair) => subjects.map((subject) => rendered(pair, subject, { a: [1, null, true] })));
  for (const { constants } of pythonConstants(sources)) assert.ok(constants.includes('mcp_server:pdf-tables@1.0.0'));
});

test('adapters: hostile names, texts, addresses, commands and parameters stay text in Python', () => {
  const cases = HOSTILE_TEXTS.flatMap((text) => {
    const fields = { name: text, title: text, summary: text, description: text };
    const remote = { server: { transport: 'SSE', url: `https://x.example/${encodeURIComponent('"')}${'"'}#` } };
    const command = { server: { exec: { cmd: [text, text], env: { NAME: text } } } };
    return [aSubject({ ...fields, mcp_registration: remote }), aSubject({ ...fields, mcp_registration: command })].map(
      (subject) => ({ text, subject }),
    );
  });
  const sources = cases.flatMap(({ text, subject }) =>
    PYTHON.map((pair) => ({ text, source: rendered(pair, subject, { [text]: text }) })),
  );
  const found = pythonConstants(sources.map(({ source }) => source));
  assert.equal(found.length, HOSTILE_TEXTS.length * 2 * PYTHON.length);
  for (const [index, { constants, imports }] of found.entries()) {
    const text = sources[index]?.text ?? '';
    assert.ok(constants.includes(text), `kept unchanged: ${JSON.stringify(text)}`);
    const expected = [
      'atexit',
      'os',
      'pathlib',
      'typing',
      'crewai_tools',
      'mcp',
      'mcp.client.stdio',
      'autogen_ext.tools.mcp',
    ];
    const strange = imports.filter(
      (name) =>
        ![...expected, 'langgraph.prebuilt', 'langchain_core.runnables', 'langchain_mcp_adapters.client'].includes(
          name,
        ),
    );
    assert.deepEqual(strange, []);
    assert.ok(imports.filter((name) => name === 'os').length === 1);
  }
});

test('adapters: secrets come from the environment, never from the manifest', () => {
  for (const pair of PYTHON) {
    const source = rendered(pair, aSubject({ mcp_registration: COMMAND }));
    assert.doesNotMatch(source, /sk-123/);
    assert.match(source, /"API_KEY": required\("API_KEY"\)/);
    assert.match(source, /"LANG": "de"/);
  }
});

test('adapters: secrets in addresses come from the environment or are left to the user', () => {
  const url = 'https://x.example/mcp?token=sk-123&lang=de';
  const subject = aSubject({ mcp_registration: { server: { transport: 'HTTP', url } } });
  const sources = PYTHON.map((pair) => rendered(pair, subject));
  pythonConstants(sources);
  for (const source of sources)
    assert.ok(
      source.includes(
        '"url": "https://x.example/mcp?token=" + required("TOKEN_FOR_IO_EXAMPLE_DOCS__PDF_TABLES") + "&lang=de",',
      ),
    );
  const shown = `https://x.example/mcp?token=\${TOKEN_FOR_IO_EXAMPLE_DOCS__PDF_TABLES}&lang=de`;
  assert.equal(parse(rendered('watsonx_orchestrate/skill', subject)).url, shown);
  assert.equal(JSON.parse(rendered('dspy/module', subject)).connection.url, shown);
});

test('adapters: hostile text in a watsonx Orchestrate skill survives a YAML parser', () => {
  const sources = HOSTILE_TEXTS.map((text) =>
    rendered('watsonx_orchestrate/skill', aSubject({ name: text, description: text, mcp_registration: COMMAND })),
  );
  for (const [index, source] of sources.entries()) {
    const skill = parse(source);
    const text = HOSTILE_TEXTS[index] ?? '';
    const expected = text.toWellFormed().replace(/[\p{Cc}\u2028\u2029]/gu, ' ');
    assert.equal(skill.description, text.trim() === '' ? skill.description : expected);
    assert.deepEqual([skill.spec_version, skill.kind, skill.tools], ['v1', 'mcp', ['*']]);
    assert.deepEqual(JSON.parse(skill.command), ['uvx', 'pdf-tables']);
    assert.deepEqual(skill.connections, [skill.name], 'values come from a connection');
    assert.match(skill.name, /^[a-z][a-z0-9_]*$/);
  }
  const cloned = aSubject({ artifacts: [{ kind: 'git' }], mcp_registration: COMMAND });
  assert.match(rendered('watsonx_orchestrate/skill', cloned), /^# .* add package_root/);
});

test('adapters: a framework and type without a template get a JSON stub', () => {
  for (const text of HOSTILE_TEXTS) {
    const subject = aSubject({ name: text, mcp_registration: REMOTE });
    const stub = JSON.parse(rendered(`dspy/${text.replaceAll('/', '')}`, subject, { text }));
    assert.deepEqual([stub.framework, stub.params.text, stub.connection.url], ['dspy', text, REMOTE.server.url]);
  }
});

test('adapters: glue code without a connection says why', () => {
  const nowhere = aSubject({ mcp_registration: null, artifacts: [] });
  assert.match(
    rendered('langgraph/node', nowhere),
    /raise RuntimeError\(ENTITY\["id"\] \+ " cannot be reached or started\. "/,
  );
  assert.match(
    rendered('watsonx_orchestrate/skill', nowhere),
    /^# Its manifest has no address .+ Add url or command\.\n/,
  );
  assert.equal(JSON.parse(rendered('dspy/module', nowhere)).connection.kind, 'none');
});

test('adapters: finds templates under common spellings', () => {
  for (const [framework, key] of [
    ['langgraph', 'node'],
    ['LangGraph', 'langgraph-node'],
    ['watsonx-orchestrate', 'skill'],
    ['claude', ''],
  ]) {
    assert.ok(findTemplate(framework ?? '', key ?? ''), `${framework} ${key}`);
  }
  for (const [framework, key] of [
    ['langgraph', 'edge'],
    ['', ''],
    ['constructor', 'name'],
    ['claude', '__proto__'],
  ]) {
    assert.equal(findTemplate(framework ?? '', key ?? ''), undefined);
  }
});
