// Checks for the operator whether texts can be embedded, and with which model.
import { type Embedder, wholeReason } from './embedder.ts';

export type ModelCheck =
  | { outcome: 'ok'; model: string }
  /** A simpler model replaces the intended one. */
  | { outcome: 'fallback'; model: string; reason: string }
  | { outcome: 'unavailable'; reason: string };

/** Embeds a real text, which tests everything that embedding needs. */
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

/** Responses must not reveal paths on the hub; the file name is enough to explain the problem. */
function withoutFolders(reason: string): string {
  return reason.replace(/(?<![\w.:/])(?:[a-z]:)?(?:[\\/][^\\/:"'<>|\n]+)+[\\/](?=[^\s\\/])/gi, '');
}
