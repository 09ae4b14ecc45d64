// Measures, cuts and wraps text by its width on a terminal.
import { harmlessLine } from '../../lib/harmless.ts';

/** Removes control characters and line breaks. */
export function oneLine(text: string): string {
  return harmlessLine(text);
}

const WIDE =
  /^(?:\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6])/u;
const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Width on a terminal, in columns. */
export function widthOf(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  return [...segmenter.segment(text)].reduce((width, { segment }) => width + columnsOf(segment), 0);
}

function columnsOf(segment: string): number {
  if (/^\p{M}/u.test(segment) || segment === '\u200b') return 0;
  return WIDE.test(segment) ? 2 : 1;
}

/** Cuts the text at this width, with an ellipsis. */
export function shortened(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  let width = 0;
  for (const { segment } of segmenter.segment(text)) {
    width += columnsOf(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return `${kept.trimEnd()}…`;
}

export function padded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Wraps between words into lines of at most this width. */
export function wrapped(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines = [''];
    for (const word of line.split(/ +/)) {
      const last = lines.at(-1) ?? '';
      const longer = last === '' ? word : `${last} ${word}`;
      if (last !== '' && widthOf(longer) > columns) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines;
  });
}

/** `2026-11-15 18:24`, in the local time zone; returns text that is not a time unchanged. */
export function shownMoment(iso: string): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  const [year, ...rest] = [time.getFullYear(), time.getMonth() + 1, time.getDate(), time.getHours(), time.getMinutes()];
  const [month, day, hour, minute] = rest.map((part) => String(part).padStart(2, '0'));
  return `${year}-${month}-${day} ${hour}:${minute}`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function byteCount(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** step;
  return `${step === 0 ? value : value.toFixed(1)} ${UNITS[step]}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
}
