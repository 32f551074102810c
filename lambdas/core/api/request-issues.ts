import type * as z from 'zod'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Model, RelayModel } from '../catalogue/model.ts'
import { InvalidRequestError, ModelNotFoundError, type RequestIssue } from '../errors.ts'
import { isJsonObject } from '../json/parse-json-text.ts'
import { nearestName } from '../nearest-name.ts'
import { endpointsOf } from './model-view.ts'

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
    const offered = { catalogue, allowedModels }
    const message = otherKindMessage(id, kind, offered)
    throw new ModelNotFoundError(id, { message, nearest: nearestModel(id, kind, offered) })
  }
  return model
}

/** The id of the model that was probably meant, of those that the key may use; undefined if none is near. */
export function nearestModel(id: string, kind: Model['kind'], { catalogue, allowedModels }: Offered) {
  const models = catalogue.listModels(allowedModels).filter((model) => model.kind === kind && model.id !== id)
  return nearestName(
    id,
    models.map((model) => model.id),
  )
}

/** What a request is told that names a model of another kind than its route takes; undefined for any other model. */
export function otherKindMessage(
  id: string,
  wanted: Model['kind'],
  { catalogue, allowedModels }: Offered,
): string | undefined {
  const model = catalogue.listModels(allowedModels).find((each) => each.id === id)
  if (model === undefined || model.kind === wanted) {
    return undefined
  }
  const routes = endpointsOf(model, catalogue).map((path) => `POST ${path}`)
  return `the model ${id} is of the kind ${model.kind}: use ${routes.join(', ')}`
}

/**
 * Checks a parsed body against a schema.
 * @throws InvalidRequestError with the first issue; it never repeats what the client sent.
 */
export function parseBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body, FIRST_ISSUE_ONLY)
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => sayRequired(issue, body)).slice(0, ISSUES_MAX)
    throw new InvalidRequestError(issues.flatMap(toIssues).slice(0, ISSUES_MAX))
  }
  return parsed.data
}

type Issue = z.core.$ZodIssue

/** The issue of a field at the top level that is missing says so. */
export function sayRequired(issue: Issue, body: unknown): Issue {
  const [name, ...inner] = issue.path
  const isMissing = isJsonObject(body) && inner.length === 0 && body[String(name)] === undefined
  const isOfType = issue.code === 'invalid_type' || issue.code === 'invalid_union'
  return isMissing && isOfType ? { ...issue, message: requiredMessage(issue.message) } : issue
}

/** @param message that a field `must be` something. */
export function requiredMessage(message: string): string {
  return message.replace('` must be ', '` is required and must be ')
}

/** Stops at the first issue, because each element of a long array could be one. */
const FIRST_ISSUE_ONLY = { abortEarly: true, reportInput: false }

/** The OpenAI error shape holds one issue. */
const ISSUES_MAX = 1

/** The branch of a union that matched the deepest is most likely the one that the client meant. */
function toIssues(issue: Issue): RequestIssue[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'invalid_union') {
    return [{ path, message: issue.message }]
  }
  const depth = (branch: Issue[]) => branch.reduce((most, each) => Math.max(most, each.path.length), 0)
  const [best] = issue.errors.toSorted((left, right) => depth(right) - depth(left))
  if (best === undefined || depth(best) === 0) {
    return [{ path, message: issue.message }]
  }
  return best.flatMap(toIssues).map((inner) => ({ ...inner, path: [path, inner.path].filter(Boolean).join('.') }))
}
