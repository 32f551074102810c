import { JsonScanner, MORE } from './json-scanner.ts'

/** A text is read three times, in smaller and smaller steps from where it is known to be right. */
const STEP_CHARACTERS = [65_536, 256, 1]

/**
 * Where a text stops to be JSON, for people: `at line 2, column 13`, or that it ends too early. Loaded for texts that are not JSON alone.
 * Takes linear time.
 */
export function faultOfJson(text: string): string {
  let right = 0
  let scanner = new StepScanner(text)
  for (const characters of STEP_CHARACTERS) {
    scanner = new StepScanner(text)
    scanner.readTo(right)
    while (right < text.length && scanner.readTo(right + characters)) {
      right += characters
    }
  }
  // A wrong word or number is found at its end.
  const word = text.slice(scanner.start, right)
  if (WORD.test(word) && !WORDS.some((known) => (right < text.length ? known === word : known.startsWith(word)))) {
    return `it is wrong ${placeOf(text, scanner.start)}`
  }
  return right < text.length
    ? `it is wrong ${placeOf(text, right)}`
    : `it ends too early, ${placeOf(text, text.length)}`
}

const WORDS = ['true', 'false', 'null']

/** What is no string, no bracket, and no correct number. */
const WORD = /^(?!-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$)[^\s"{}[\],:]+$/i

/** Reads a text up to a place, and on from there. */
class StepScanner extends JsonScanner {
  readonly #whole: string

  constructor(whole: string) {
    super('')
    this.#whole = whole
  }

  override get text(): string {
    return this.#whole.slice(this.start, this.end)
  }

  /** @returns whether the text is right up to there. Stops at the token that is wrong. */
  readTo(end: number): boolean {
    this.base += this.piece.length
    this.piece = this.#whole.slice(this.base, end)
    this.at = 0
    while (this.isValid && this.next() !== MORE) {
      // The scanner knows what it has read.
    }
    return this.isValid
  }
}

function placeOf(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n')
  return `at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}
