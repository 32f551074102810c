import type * as z from 'zod'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { RelayModel } from '../catalogue/model.ts'
import { InvalidRequestError, ModelNotFoundError, type RequestIssue } from '../errors.ts'

/** What a key may use. */
export type Offered = {
  readonly catalogue: Catalogue
  /** Models that the key may use; null for all. */
  readonly allowedModels: readonly string[] | null
}

/** The model that a relayed request names. @throws ModelNotFoundError */
export function requestedModel<Kind extends RelayModel['kind']>(
  id: string,
  kind: Kind,
  { catalogue, allowedModels }: Offered,
): Extract<RelayModel, { kind: Kind }> {
  const model = catalogue.findRelayModel(id, { kind, allowed: allowedModels })
  if (model === undefined) {
    throw new ModelNotFoundError(id)
  }
  return model
}

/**
 * Checks a parsed body against a schema.
 * @throws InvalidRequestError with the first issue; it never repeats what the client sent.
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body, FIRST_ISSUE_ONLY)
  if (!parsed.success) {
    throw new InvalidRequestError(parsed.error.issues.slice(0, ISSUES_MAX).flatMap(toIssues).slice(0, ISSUES_MAX))
  }
  return parsed.data
}

/** Stops at the first issue, because each element of a long array could be one. */
const FIRST_ISSUE_ONLY = { abortEarly: true, reportInput: false }

/** The OpenAI error shape holds one issue. */
const ISSUES_MAX = 1

/** The branch of a union that matched the deepest is most likely the one that the client meant. */
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
