/** `JSON.rawJSON` exists since Node 21, but TypeScript's library lacks it. */
declare global {
  interface JSON {
    rawJSON(text: string): unknown
  }
}

/** A number that `JSON.stringify` writes exactly as given: `5.0` stays `5.0`. `text` must be a JSON number. */
export function rawNumber(text: string): unknown {
  return JSON.rawJSON(text)
}

/** A usage figure: a plain number, or one with a decimal point when the simulator writes floats. */
export function usageNumber(value: number, isFloat: boolean): unknown {
  return isFloat && Number.isInteger(value) ? rawNumber(`${value}.0`) : value
}
