// Tells an operator whether texts can be embedded, and by which model.
import { type Embedder, wholeReason } from './embedder.ts';

export type ModelCheck =
  | { outcome: 'ok'; model: string }
  /** A simpler model is used instead of the intended one. */
  | { outcome: 'fallback'; model: string; reason: string }
  | { outcome: 'unavailable'; reason: string };

/** A real text, so that everything that it takes must work. */
export async function checkModel(open: () => Promise<Embedder>): Promise<ModelCheck> {
  try {
    const embedder = await open();
    await embedder.embed(['a tool that reads files']);
    const { model, fallback } = embedder;
    if (fallback === undefined) return { outcome: 'ok', model };
    return { outcome: 'fallback', model, reason: withoutFolders(fallback) };
  } catch (error) {
    return { outcome: 'unavailable', reason: withoutFolders(wholeReason(error)) };
  }
}

/** Answers tell no paths of the hub; the last part says enough of what is wrong. */
function withoutFolders(reason: string): string {
  return reason.replace(/(?<![\w.:/])(?:[a-z]:)?(?:[\\/][^\\/:"'<>|\n]+)+[\\/](?=[^\s\\/])/gi, '');
}
