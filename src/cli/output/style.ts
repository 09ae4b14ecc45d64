// Colours, where there is somebody to see them.
import { styleText } from 'node:util';
import type { Environment } from '../../config.ts';

export interface Style {
  strong(text: string): string;
  faint(text: string): string;
  good(text: string): string;
  warning(text: string): string;
  bad(text: string): string;
}

/** no-color.org: set to anything but nothing, it means none. */
export function wantsColour(environment: Environment, isTerminal: boolean): boolean {
  return isTerminal && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

export function createStyle(isColoured: boolean): Style {
  const styled = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;
  return {
    strong: styled('bold'),
    faint: styled('dim'),
    good: styled('green'),
    warning: styled('yellow'),
    bad: styled('red'),
  };
}
