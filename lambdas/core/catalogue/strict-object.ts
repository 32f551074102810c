import * as z from 'zod'

/** An object schema that refuses unknown keys and lists the allowed ones, so that a typing error in a configuration is found. */
export function strictObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const allowed = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `unknown key ${quoted(issue.keys)}; allowed: ${allowed}` : undefined,
  })
}

function quoted(keys: unknown): string {
  return Array.isArray(keys) ? keys.map((key) => `"${key}"`).join(', ') : String(keys)
}
