import * as z from 'zod/mini'
import type { AdminRoute } from '#core/admin/routes.ts'
import { READS } from '#lambdas/admin/reads.ts'
import { WRITES } from '#lambdas/admin/writes.ts'
import { PER_SECOND_MODEL } from '../engines/test-catalogue.ts'

/** What a request of an operation sends. */
export type AdminRequest = {
  /** With the values of its parameters. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** JSON; left out for an operation without a body. */
  readonly body?: string
}

/** The value of a parameter of a path, by its name. */
const PARAMETERS: Readonly<Record<string, string>> = {
  tenant_id: 'acme',
  job_id: '01980000-0000-7000-8000-000000000000',
  channel_id: 'main',
  model: PER_SECOND_MODEL,
}

/** A request of an operation that gets as far as the table: with its tenant, and the fields that its body must have. */
export function requestOf({ operation, path, query = [] }: AdminRoute): AdminRequest {
  const body = [...READS, ...WRITES].find(({ name }) => name === operation)?.body
  return {
    path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(PARAMETERS[name] ?? 'a')),
    query: query.includes('tenant') ? { tenant: 'acme' } : {},
    ...(body === undefined ? {} : { body: JSON.stringify(sampleOf(body())) }),
  }
}

/** The required fields of a body, or its first one. */
function sampleOf(schema: z.ZodMiniType): object {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const [first = ''] = Object.keys(properties)
  const names = required.length === 0 ? [first] : required
  return Object.fromEntries(names.map((name) => [name, sampleValue(Object(properties[name]))]))
}

/** Every amount, name, reason and id may be `1`. */
function sampleValue({ type, items, anyOf: [first] = [], enum: [choice] = [] }: Sampled): unknown {
  if (type === 'array') {
    return [sampleValue(items ?? {})]
  }
  return first === undefined
    ? (choice ?? (type === 'boolean' ? true : type === 'string' ? '1' : 1))
    : sampleValue(first)
}

/** What a JSON schema says about the values of a field. */
type Sampled = {
  readonly type?: string
  readonly items?: Sampled
  readonly anyOf?: readonly Sampled[]
  readonly enum?: readonly unknown[]
}
