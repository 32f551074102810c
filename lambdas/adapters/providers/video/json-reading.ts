import { isJsonObject } from '#core/json/json-object.ts'

/** Reads single members of JSON whose shape nobody guarantees. Nothing here throws, whatever came. */

/** The value of a JSON text; undefined when it is not JSON. A byte order mark is skipped, as browsers do. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch {
    return undefined
  }
}

/** The member at a path of names (objects) and indexes (arrays); undefined where the path leaves the value. */
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

/** A string with something in it besides blanks, as it came; undefined for anything else. */
export function nonBlank(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** The first value that is not undefined. */
export function firstOf<Value>(values: readonly (Value | undefined)[]): Value | undefined {
  return values.find((value) => value !== undefined)
}

/** Whole part and fraction of any amount an upstream can mean; longer ones are noise. */
const DECIMAL = /^\d{1,15}(?:\.(\d{1,20}))?$/

/** Sums of floating point numbers arrive with a tail such as 13.239999999999998: digits beyond these are cut by rounding. */
const FRACTION_DIGITS_MAX = 9

/** A number, or a string of digits, as decimal text; undefined for negative, endless and exponent forms. */
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

/** The first decimal above zero, else the first one: a zero in one place does not hide the number in another. */
export function firstDecimal(values: readonly unknown[]): string | undefined {
  const texts = values.map(decimalText).filter((text) => text !== undefined)
  return texts.find((text) => Number(text) > 0) ?? texts[0]
}

/** A quantity that cannot be is shown to settlement in so many characters; it only has to be recognised and refused. */
const ODD_QUANTITY_CHARACTERS_MAX = 32

/**
 * A reported usage as it came, also where it is no decimal (`-5`, `Infinity`, `"many"`): settlement must see what it refuses,
 * or nobody would hear of it. Undefined when there is nothing.
 */
export function reportedQuantity(values: readonly unknown[]): string | undefined {
  return firstDecimal(values) ?? firstOf(values.map(oddQuantity))
}

function oddQuantity(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : nonBlank(value)
  return text?.slice(0, ODD_QUANTITY_CHARACTERS_MAX)
}

/** Longer ids do not exist, and an id becomes a path segment: printable ASCII, no dot segments. */
const TASK_ID = /^(?!\.{1,2}$)[\x21-\x7e]{1,256}$/

/** A task id that can be put into a path again. Whole numbers count, as long as JSON kept them whole. */
export function taskIdText(value: unknown): string | undefined {
  const text = Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && TASK_ID.test(text) ? text : undefined
}
