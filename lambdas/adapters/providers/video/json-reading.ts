import { isJsonObject } from '#core/json/json-object.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'

/** Reads single fields of JSON of unknown shape. No function here throws, whatever the input. */

/** Parses a JSON string; undefined when it is not JSON. A byte order mark is skipped, as browsers do. */
export function parseJson(text: string): unknown {
  try {
    return parseJsonText(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch {
    return undefined
  }
}

/** The value at a path of field names and array indexes; undefined where the path leaves the value. */
export function memberAt(value: unknown, ...path: readonly (string | number)[]): unknown {
  let current = value
  for (const step of path) {
    if (typeof step === 'number') {
      current = Array.isArray(current) ? current[step] : undefined
    } else {
      current = isJsonObject(current) && Object.hasOwn(current, step) ? current[step] : undefined
    }
  }
  return current
}

/** A string that is not blank, unchanged; undefined for anything else. */
export function nonBlank(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** The first value that is not undefined. */
export function firstOf<Value>(values: readonly (Value | undefined)[]): Value | undefined {
  return values.find((value) => value !== undefined)
}

/** The whole part and the fraction of any plausible amount. */
const DECIMAL = /^\d{1,15}(?:\.(\d{1,20}))?$/

/** Sums of floating point numbers have tails such as 13.239999999999998, which are rounded to this many digits. */
const FRACTION_DIGITS_MAX = 9

/** A number or a string of digits as a decimal string; undefined for negative, infinite and exponent forms. */
export function decimalText(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null
  const [whole, fraction = ''] = match ?? []
  if (whole === undefined || fraction.length <= FRACTION_DIGITS_MAX) {
    return whole
  }
  return Number(whole)
    .toFixed(FRACTION_DIGITS_MAX)
    .replace(/\.?0+$/, '')
}

/** The first decimal above zero, or else the first one: a zero in one place does not hide a number in another. */
export function firstDecimal(values: readonly unknown[]): string | undefined {
  const texts = values.map(decimalText).filter((text) => text !== undefined)
  return texts.find((text) => Number(text) > 0) ?? texts[0]
}

/** An impossible quantity is cut to this length, which is enough for settlement to recognise and refuse it. */
const ODD_QUANTITY_CHARACTERS_MAX = 32

/**
 * A reported usage, even where it is no decimal (`-5`, `Infinity`, `"many"`), because settlement refuses and reports such a
 * value. Undefined when there is none.
 */
export function reportedQuantity(values: readonly unknown[]): string | undefined {
  return firstDecimal(values) ?? firstOf(values.map(oddQuantity))
}

function oddQuantity(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : nonBlank(value)
  return text?.slice(0, ODD_QUANTITY_CHARACTERS_MAX)
}

/** An id becomes a path segment: printable ASCII, no dot segments. Longer ids do not exist. */
const TASK_ID = /^(?!\.{1,2}$)[\x21-\x7e]{1,256}$/

/** A task id that can be put into a path. A whole number counts, if JSON kept it exact. */
export function taskIdText(value: unknown): string | undefined {
  const text = Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && TASK_ID.test(text) ? text : undefined
}
