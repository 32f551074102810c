import type * as z from 'zod'
import { InvalidRequestError, type RequestIssue } from '../errors.ts'

/**
 * Checks a parsed body against a schema.
 * @throws InvalidRequestError with one sentence about the first member that needs mending; it never repeats what the
 *   client sent.
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body, FIRST_FAULT_ONLY)
  if (!parsed.success) {
    throw new InvalidRequestError(parsed.error.issues.slice(0, ISSUES_MAX).flatMap(toIssues).slice(0, ISSUES_MAX))
  }
  return parsed.data
}

/**
 * Each element of a list may be a fault of its own: checking goes no further than the first, as zod's own `validate` does,
 * which says no more than yes or no.
 */
const FIRST_FAULT_ONLY = { abortEarly: true, reportInput: false }

/** A body has room for a million faults; the error shape has room for one. */
const ISSUES_MAX = 1

/** Of the branches of a union, the one that came furthest says what the writer meant. */
function toIssues(issue: z.core.$ZodIssue): RequestIssue[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'invalid_union') {
    return [{ path, message: issue.message }]
  }
  const depth = (branch: z.core.$ZodIssue[]) => branch.reduce((most, each) => Math.max(most, each.path.length), 0)
  const [best] = issue.errors.toSorted((left, right) => depth(right) - depth(left))
  if (best === undefined || depth(best) === 0) {
    return [{ path, message: issue.message }]
  }
  return best.flatMap(toIssues).map((inner) => ({ ...inner, path: [path, inner.path].filter(Boolean).join('.') }))
}
