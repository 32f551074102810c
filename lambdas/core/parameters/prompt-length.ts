/** Most units of a video prompt: 5000 characters, or 2500 Chinese ones. */
export const PROMPT_UNITS_MAX = 5000

/**
 * Han, kana (with the marks of that block that several scripts share), hangul, and the full-width forms: the ideographic
 * space, U+FF01-FF60 and U+FFE0-FFE6. Other East Asian punctuation counts once.
 */
const CJK_CHARACTER =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3040-\u30FF\uFF65-\uFF9F\u3000\uFF01-\uFF60\uFFE0-\uFFE6]/u

/**
 * Length of a prompt in the units of {@link PROMPT_UNITS_MAX}: a CJK character counts 2, any other code point 1. The text is
 * not normalised first: two code points count as two even if they are displayed as one character.
 */
export function promptUnits(text: string): number {
  let units = 0
  for (const character of text) {
    units += CJK_CHARACTER.test(character) ? 2 : 1
  }
  return units
}
