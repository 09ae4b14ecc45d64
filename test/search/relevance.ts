// What every engine must find, and must not find. Each scenario gets an empty engine.
import assert from 'node:assert/strict';
import type { JsonObject } from '../../src/lib/json.ts';
import type { Embedder } from '../../src/search/model/embedder.ts';
import { aManifest } from '../support/builders.ts';

interface Stage {
  save(...manifests: JsonObject[]): Promise<void>;
  catchUp(): Promise<unknown>;
  find(text: string): Promise<string[]>;
}

/** Documents are alike, except for one; queries are a little like those that are alike. */
export async function vagueEmbedder(): Promise<Embedder> {
  return {
    model: 'vague',
    batchSize: 8,
    async embed(texts) {
      return texts.map((text) => {
        if (!text.includes('Document')) return Float32Array.of(0.23, 0.97, 0);
        return text.includes('zebra') ? Float32Array.of(0, 0, 1) : Float32Array.of(1, 0, 0);
      });
    },
    async close() {},
  };
}

const documentAbout = (id: string, subject: string) =>
  aManifest({ id, name: `a/${id}`, title: `Title ${id}`, description: `Document ${id} about ${subject}.`, tags: [] });

export const RELEVANCE: Record<string, (stage: Stage) => Promise<void>> = {
  async 'a word that several entities contain is not a misspelled name'({ save, catchUp, find }) {
    const exchanges = Array.from({ length: 6 }, (_, number) => documentAbout(`exchange-${number}`, 'binance'));
    await save(...exchanges, documentAbout('finance', 'money'));
    await catchUp();
    const found = await find('binance');
    assert.match(found[0] ?? '', /exchange/);
    assert.equal((await find('finannce'))[0], 'mcp_server:finance@1.0.0');
  },

  async 'of the words that are equally similar to a misspelled one, the most frequent are meant'({
    save,
    catchUp,
    find,
  }) {
    const words = ['aether', 'bether', 'eether', 'tether', 'weather', 'weather'];
    await save(...words.map((word, number) => documentAbout(`d-${number}`, `${word} ${word}`)));
    await catchUp();
    const found = await find('wether forecast');
    assert.ok(found.includes('mcp_server:d-5@1.0.0'), found.join(' '));
  },

  async 'a nonsense query finds nothing, even if one of its words resembles a known one'({ save, catchUp, find }) {
    const alike = Array.from({ length: 30 }, (_, number) => documentAbout(`d-${number}`, `subject ${number}`));
    await save(...alike, documentAbout('animals', 'a zebra'));
    await catchUp();
    assert.deepEqual(await find('zebar qqzzkk wwvvyy'), []);
    assert.equal((await find('zebra'))[0], 'mcp_server:animals@1.0.0');
  },

  async 'a name that differs by one letter does not hide a version'({ save, catchUp, find }) {
    const mentions = Array.from({ length: 7 }, (_, number) => documentAbout(`m-${number}`, 'notes 2, notes 2'));
    const notes = aManifest({ id: 'notes', name: 'a/notes', title: 'Memos', description: 'Document.', tags: [] });
    const near = aManifest({ id: 'n', name: 'a/notes-1', title: 'Other', description: 'Document.', tags: [] });
    await save(...mentions, near, { ...notes, version: '2' }, { ...notes, version: '3' });
    await catchUp();
    assert.equal((await find('notes 2'))[0], 'mcp_server:notes@2');
  },

  async 'a name with an unknown version finds the newest one'({ save, catchUp, find }) {
    const other = aManifest({ id: 'o', name: 'b/o', description: 'Document: io example thing 7.7.7, thing 7.7.7.' });
    await save(aManifest({ id: 'x.12', name: 'io.example/thing', description: 'Document.' }), other);
    await catchUp();
    assert.equal((await find('io.example/thing 7.7.7'))[0], 'mcp_server:x.12@1.0.0');
  },
};
