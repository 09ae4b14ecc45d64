// Colors for terminals that support them.
import { styleText } from 'node:util';
import type { Environment } from '../../config.ts';
import { harmless } from '../../lib/harmless.ts';

export interface Style {
  strong(text: string): string;
  faint(text: string): string;
  good(text: string): string;
  warning(text: string): string;
  bad(text: string): string;
}

/** See no-color.org: any value except the empty string disables colors. */
export function wantsColor(environment: Environment, isTerminal: boolean): boolean {
  return isTerminal && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

const FORMATS = ['bold', 'dim', 'green', 'yellow', 'red'] as const;
type Format = (typeof FORMATS)[number];

const inColor = (format: Format, text: string) => styleText(format, text, { validateStream: false });

/** Start and end sequences of each format. The capturing group keeps them when text is split by it. */
const OWN_ORDERS = new RegExp(
  `(${FORMATS.flatMap((format) => inColor(format, '|').split('|'))
    .map((order) => order.replace('[', '\\['))
    .join('|')})`,
);

/** Removes all control sequences except these styles; without colors, removes the styles too. */
export function harmlessStyled(text: string, isColored: boolean): string {
  if (!isColored) return harmless(text);
  const parts = text.split(OWN_ORDERS);
  return parts.map((part, index) => (index % 2 === 0 ? harmless(part) : part)).join('');
}

export function createStyle(isColored: boolean): Style {
  const styled = (format: Format) => (text: string) => (isColored ? inColor(format, harmless(text)) : text);
  return {
    strong: styled('bold'),
    faint: styled('dim'),
    good: styled('green'),
    warning: styled('yellow'),
    bad: styled('red'),
  };
}
