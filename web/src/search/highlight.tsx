// Marks what was searched for in a text.
import { segments } from './segments.ts';

export function Highlight({ text, query }: { text: string; query: string }) {
  return <>{segments(text, query).map(({ part, isMatch }) => (isMatch ? <mark>{part}</mark> : part))}</>;
}
