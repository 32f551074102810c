import { MORE, PieceScanner } from './json-scanner.ts'

/** A text is read three times, in smaller and smaller pieces from where it is known to be right. */
const PIECE_CHARACTERS = [65_536, 256, 1]

/**
 * Where a text stops to be JSON, for people: `at line 2, column 13`, or that it ends too early. Loaded for texts that are not JSON alone.
 * Takes linear time.
 */
export function faultOfJson(text: string): string {
  let right = 0
  let scanner = new PieceScanner()
  for (const characters of PIECE_CHARACTERS) {
    scanner = new PieceScanner()
    read(scanner, text.slice(0, right))
    while (right < text.length && read(scanner, text.slice(right, right + characters))) {
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

/** @returns whether the text is right up to here. */
function read(scanner: PieceScanner, piece: string): boolean {
  scanner.push(piece)
  while (scanner.isValid && scanner.next() !== MORE) {
    // The scanner keeps the place of the token that is wrong.
  }
  return scanner.isValid
}

function placeOf(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n')
  return `at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}
