// Any UTF-16 text that JSON can contain, with more NULs, spaces and lone surrogates than random text.
import fc from 'fast-check';

const unit = fc.oneof(
  fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  fc.nat(0xffff).map((code) => String.fromCharCode(code)),
  fc.constantFrom('\u0000', ' ', '\n', '\u00a0', '/', '.', '@', '\ud83d', '\ude00', '😀', 'é'),
);

export function anyText(maxLength = 20): fc.Arbitrary<string> {
  return fc.string({ unit, maxLength });
}
