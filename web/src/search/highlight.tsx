// Highlights matches in a text.
import { quotedSegments, type Segment, segments } from './segments.ts';

interface HighlightProps {
  text: string;
  query: string;
}

export function Highlight({ text, query }: HighlightProps) {
  return <Marked parts={query === '' ? [{ part: text, isMatch: false }] : segments(text, query)} />;
}

export function HighlightQuotes({ text, query }: HighlightProps) {
  return <Marked parts={quotedSegments(text, query)} />;
}

function Marked({ parts }: { parts: readonly Segment[] }) {
  return <>{parts.map(({ part, isMatch }) => (isMatch ? <mark>{part}</mark> : part))}</>;
}
