// Bytes as text, or not at all: what is no UTF-8 would be written back as something else.
import { isUtf8 } from 'node:buffer';

/** Undefined when the bytes are no UTF-8. */
export function utf8Text(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
