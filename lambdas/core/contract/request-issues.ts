import type * as z from 'zod'
import { InvalidRequestError, type RequestIssue } from '../errors.ts'

/**
 * Checks a parsed body against a schema.
 * @throws InvalidRequestError with one sentence for each member that needs mending; none repeats what the client sent.
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body)
  if (!parsed.success) {
    throw new InvalidRequestError(parsed.error.issues.flatMap(toIssues).slice(0, ISSUES_MAX))
  }
  return parsed.data
}

/** Enough for a person to see what is wrong; a body has room for a million of them. */
const ISSUES_MAX = 20

/** Of the branches of a union, the one that came furthest says what the writer meant. */
function toIssues(issue: z.core.$ZodIssue): RequestIssue[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'invalid_union') {
    return [{ path, message: issue.message }]
  }
  const depth = (branch: z.core.$ZodIssue[]) => Math.max(0, ...branch.map((each) => each.path.length))
  const [best] = issue.errors.toSorted((left, right) => depth(right) - depth(left))
  if (best === undefined || depth(best) === 0) {
    return [{ path, message: issue.message }]
  }
  return best.flatMap(toIssues).map((inner) => ({ ...inner, path: [path, inner.path].filter(Boolean).join('.') }))
}
