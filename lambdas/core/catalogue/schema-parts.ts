import * as z from 'zod'
import { AMOUNT_MICROCREDITS_MAX, parseCredits } from '../money.ts'

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

/** A decimal string in credits, so that no floating-point number holds money. */
export const price = z.string({ message: 'write the price as a decimal string in credits, such as "0.14"' }).refine(
  (text) => {
    try {
      return parseCredits(text) <= AMOUNT_MICROCREDITS_MAX
    } catch {
      return false
    }
  },
  { message: 'write a decimal string in credits with at most six places, such as "0.14"' },
)

/** What a provider's own fields of a channel are written with. A parameter, so that functions that run jobs do not load zod for it. */
export type SchemaKit = {
  readonly z: typeof z
  readonly strictObject: typeof strictObject
  /** The name of a header that neither the gateway nor the connection sets. */
  readonly headerName: z.ZodString
}

/** The validated fields of a shape. */
export type SettingsOf<Settings extends (kit: SchemaKit) => z.ZodRawShape> = z.infer<z.ZodObject<ReturnType<Settings>>>
