/** An item as code uses it: strings, numbers, bigints, booleans, null, lists and maps. Undefined fields are left out. */
export type Item = Readonly<Record<string, unknown>>

type AttributeValue = Readonly<Record<string, unknown>>

/** A value, or an attribute, of a type that the table does not have. */
class UnknownAttributeError extends Error {
  override readonly name = 'UnknownAttributeError'
}

/** Writes an item in the wire's form (DynamoDB API reference, "AttributeValue"). @throws UnknownAttributeError. */
export function encodeItem(item: Item): AttributeValue {
  const encoded: Record<string, unknown> = {}
  for (const name in item) {
    const value = item[name]
    if (value !== undefined) {
      encoded[name] = encodeValue(value)
    }
  }
  return encoded
}

function encodeValue(value: unknown): AttributeValue {
  switch (typeof value) {
    case 'string':
      return { S: value }
    case 'number':
    case 'bigint':
      return { N: String(value) }
    case 'boolean':
      return { BOOL: value }
    case 'object':
      return encodeObject(value)
    default:
      throw new UnknownAttributeError(`no attribute for a ${typeof value}`)
  }
}

function encodeObject(value: object | null): AttributeValue {
  if (value === null) {
    return { NULL: true }
  }
  return Array.isArray(value) ? { L: value.map(encodeValue) } : { M: encodeItem({ ...value }) }
}

/**
 * Reads an item from the wire's form.
 * @throws UnknownAttributeError for binary values and sets, which the table does not have.
 */
export function decodeItem(encoded: unknown): Item {
  return Object.fromEntries(Object.entries(Object(encoded)).map(([name, value]) => [name, decodeValue(value)]))
}

function decodeValue(encoded: unknown): unknown {
  const [[type, value] = []] = Object.entries(Object(encoded))
  switch (type) {
    case 'S':
    case 'BOOL':
      return value
    case 'N':
      return decodeNumber(String(value))
    case 'NULL':
      return null
    case 'L':
      return Array.isArray(value) ? value.map(decodeValue) : []
    case 'M':
      return decodeItem(value)
    default:
      throw new UnknownAttributeError(`an attribute of type ${type}`)
  }
}

/** Reads a number. Amounts may exceed what a double holds exactly, so large integers become bigints. */
export function decodeNumber(digits: string): number | bigint {
  const number = Number(digits)
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(digits) ? number : BigInt(digits)
}
