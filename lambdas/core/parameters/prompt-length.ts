/** The most units a video prompt may have: 5000 characters, or 2500 Chinese ones (interface, video job creation). */
export const PROMPT_UNITS_MAX = 5000

/**
 * Han, kana (with the marks of their block that Unicode shares between scripts), hangul, and the forms that are full-width
 * by definition: the ideographic space, U+FF01-FF60 and U+FFE0-FFE6. Other East Asian punctuation counts as any other sign.
 */
const CJK_CHARACTER =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3040-\u30FF\uFF65-\uFF9F\u3000\uFF01-\uFF60\uFFE0-\uFFE6]/u

/**
 * Length of a prompt in the units of {@link PROMPT_UNITS_MAX}: a CJK character counts 2, any other code point 1.
 * Text is counted as it came, not normalised: two code points are two even if a screen shows one sign.
 */
export function promptUnits(text: string): number {
  let units = 0
  for (const character of text) {
    units += CJK_CHARACTER.test(character) ? 2 : 1
  }
  return units
}
