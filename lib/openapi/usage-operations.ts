import type { Parameter } from './openapi-types.ts'
import type { OperationDocument } from './operation-document.ts'

const day = (name: 'from' | 'to', description: string, example: string): Parameter => ({
  name,
  in: 'query',
  description,
  schema: { type: 'string', format: 'date' },
  example,
})

const USAGE_QUERY: readonly Parameter[] = [
  day('from', 'First day, UTC; default: 29 days before `to`.', '2026-11-01'),
  day('to', 'Last day, UTC; default: today. A range has at most 92 days.', '2026-11-22'),
  {
    name: 'group_by',
    in: 'query',
    description: 'Some of `day`, `model`, `key` and `operation`, each once, separated by commas.',
    schema: { type: 'string', default: 'day' },
    example: 'day,model',
  },
  {
    name: 'limit',
    in: 'query',
    description: 'Groups per page, from 1 to 1,000.',
    schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 1_000 },
  },
  {
    name: 'after',
    in: 'query',
    description:
      '`next` of the page before, whose other parameters may be left out. With other values of them it is a 400.',
    schema: { type: 'string' },
  },
]

/** What was used, and what it cost. */
export const USAGE_OPERATIONS = {
  'get-usage': {
    tag: 'Usage',
    summary: 'Usage of the tenant',
    description:
      'Sums over the settled requests and jobs of the tenant, by day, model, key and operation. A request counts on the day on which it is settled, in the same moment. `cost` is exact: it is the sum of the same settlements in the ledger. A range with more than 8 MB of counters is a 400.',
    parameters: USAGE_QUERY,
    response: { description: 'A page of groups.', schema: 'Usage' },
  },
  'get-balance': {
    tag: 'Usage',
    summary: 'Balance of the tenant',
    description: 'What the tenant has, and what the key may do: its models, its end and its budget.',
    response: { description: 'The balance.', schema: 'Balance' },
  },
} as const satisfies Readonly<Record<string, OperationDocument>>
