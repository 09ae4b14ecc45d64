// Formats numbers, times and names.

// Created on first use: the first formatter costs tens of milliseconds, and lists need none.
const day = once(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' }));
const moment = once(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' }));
const relative = once(() => new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto' }));

const SHORT_UNITS = [
  [1e9, 'bn'],
  [1e6, 'm'],
  [1e3, 'k'],
] as const;

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

export function count(number: number, one: string, many = `${one}s`): string {
  return `${wholeNumber(number)} ${number === 1 ? one : many}`;
}

export function asSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}

/** npm’s form for a license that has no identifier. */
export function licenseName(license: string): string {
  return /^see license in /i.test(license) ? 'See the license file' : license;
}

export function shortNumber(number: number): string {
  if (number < 10_000) return wholeNumber(number);
  // A value that would round to 1,000 of a unit uses the next one.
  const [size, unit] = SHORT_UNITS.find(([size]) => number >= size * 0.99995) ?? [1, ''];
  return `${Math.round((number * 10) / size) / 10}${unit}`;
}

/** `10,669`: all digits, unlike `shortNumber`. */
export function wholeNumber(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

export function onDay(iso: string): string {
  return day().format(new Date(iso));
}

export function atMoment(iso: string): string {
  return moment().format(new Date(iso));
}

/** For the ends of charts: the time if it is today, otherwise the day. */
export function shortMoment(iso: string): string {
  const date = new Date(iso);
  if (date.toDateString() !== new Date().toDateString())
    return date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });
  return date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
}

export function ago(iso: string, now = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return unit === 'second' && Math.abs(seconds) < 30
    ? 'just now'
    : relative().format(Math.round(seconds / length), unit);
}

export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/** `3 d 4 h`: the two largest units. */
export function uptime(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${Math.max(minutes, 1)} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function bytes(number: number): string {
  return `${wholeNumber(Math.round(number / 1_048_576))} MB`;
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
