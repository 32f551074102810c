import * as z from 'zod'
import { invalidParameter, unreadableBody } from './openai-errors.ts'

/** Parses a body with a schema. @throws OpenAiProblem (400) for the first invalid field. */
export function parseOpenAiBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw unreadableBody()
  }
  const parsed = schema.safeParse(body)
  if (parsed.success) {
    return parsed.data
  }
  const issue = parsed.error.issues[0]
  const param = issue === undefined ? '' : z.core.toDotPath(issue.path)
  if (issue !== undefined && memberAt(body, issue.path) === undefined) {
    throw invalidParameter(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
  }
  const code = issue?.code === 'invalid_type' ? 'invalid_type' : 'invalid_value'
  throw invalidParameter(`Invalid value for '${param}'. ${issue?.message ?? ''}`.trim(), param, code)
}

function memberAt(body: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      inner !== null && typeof inner === 'object'
        ? Object.entries(inner).find(([key]) => key === String(name))?.[1]
        : undefined,
    body,
  )
}
