import * as z from 'zod/mini'
import { InvalidRequestError, type RequestIssue } from '../errors.ts'

/** An object of a request body. Unknown fields are refused, and the message lists the known ones. */
export function requestObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const allowed = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `unknown field; allowed: ${allowed}` : `use a JSON object with: ${allowed}`,
  })
}

/** The body of a change, which needs at least one field. */
export function changeObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const allowed = Object.keys(shape).join(', ')
  return requestObject(shape).check(
    z.refine((change) => Object.keys(change).length > 0, {
      error: `nothing to change: send at least one of ${allowed}`,
    }),
  )
}

/** A longer name of an unknown field is cut in the error. */
const NAME_CHARACTERS_MAX = 64

/**
 * Checks the parsed body of a request of the console.
 * @throws InvalidRequestError that names the field, says what is wrong and what is allowed.
 */
export function parseRequest<Schema extends z.ZodMiniType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body, { reportInput: false })
  if (!parsed.success) {
    throw new InvalidRequestError(parsed.error.issues.slice(0, 1).map((issue) => toIssue(issue, body)))
  }
  return parsed.data
}

function toIssue(issue: z.core.$ZodIssue, body: unknown): RequestIssue {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const path = [...issue.path, ...unknown].map((name) => String(name).slice(0, NAME_CHARACTERS_MAX))
  const value = issue.path.reduce<unknown>((inner, name) => Object(inner)[name], body)
  return { path: path.join('.'), message: value === undefined ? `required: ${issue.message}` : issue.message }
}

/** The body of a request that has nothing to say. */
export function emptyRequest() {
  return requestObject({})
}
