/** `JSON.rawJSON` is in Node since 21; TypeScript's library does not list it yet. */
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
