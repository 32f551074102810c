import * as z from 'zod'

/** An object that refuses unknown keys and says which it knows: a typing slip in a configuration must not pass in silence. */
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
