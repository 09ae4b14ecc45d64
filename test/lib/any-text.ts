// Texts as JSON can hold them: any UTF-16, with NUL, spaces and half surrogate pairs more often than chance has them.
import fc from 'fast-check';

const unit = fc.oneof(
  fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  fc.nat(0xffff).map((code) => String.fromCharCode(code)),
  fc.constantFrom('\u0000', ' ', '\n', '\u00a0', '/', '.', '@', '\ud83d', '\ude00', '😀', 'é'),
);

export function anyText(maxLength = 20): fc.Arbitrary<string> {
  return fc.string({ unit, maxLength });
}
