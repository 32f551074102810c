import type * as z from 'zod'

/** What an operator writes for each type. */
const THINGS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'a list',
  object: 'a block of keys',
  record: 'a block of keys',
}

/** The message for an operator; undefined keeps the message of the schema or of zod. */
export function configIssueText(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type': {
      const thing = THINGS[String(issue.expected)] ?? String(issue.expected)
      return issue.input === undefined ? `is missing; write ${thing}` : `write ${thing}`
    }
    case 'invalid_value':
      return `not allowed; allowed: ${listed(issue.values)}`
    case 'invalid_union':
      return issue.options === undefined ? undefined : `not allowed; allowed: ${listed(issue.options)}`
    case 'too_small':
      return issue.inclusive === false
        ? `must be above ${issue.minimum}`
        : `must be at least ${issue.minimum}${unit(issue.origin)}`
    case 'too_big':
      return `must be at most ${issue.maximum}${unit(issue.origin)}`
    default:
      return undefined
  }
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.join(', ') : String(values)
}

function unit(origin: unknown): string {
  return origin === 'array' ? ' entries long' : origin === 'string' ? ' characters long' : ''
}
