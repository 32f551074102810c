import * as z from 'zod'
import { listedFields, type PassingFields, type RelayedApi } from '../parameters/passing-fields.ts'
import { strictObject } from './strict-object.ts'

/** More than the fields of any upstream's API. */
const ADDED_MAX = 100

/** A dotted path of field names. */
export const FIELD_PATH = /^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64})*$/

const fieldPath = z
  .string()
  .regex(
    FIELD_PATH,
    'use names of letters, digits, underscores and hyphens, separated by dots, such as messages.content.cache_control',
  )

function added(api: RelayedApi, routes: string) {
  return z
    .array(fieldPath)
    .max(ADDED_MAX)
    .superRefine((paths, context) => {
      for (const [index, path] of paths.entries()) {
        const message = addedFieldProblem(api, paths.slice(0, index), path)
        if (message !== undefined) {
          context.addIssue({ code: 'custom', path: [index], message })
        }
      }
    })
    .default([])
    .meta({ description: `Fields that pass to this upstream in addition to those of the OpenAI API: ${routes}.` })
}

/** The fields that pass to a channel in addition to the listed ones; a dotted path for a field of an inner object. */
export const passMembers = strictObject({
  chat: added('chat', 'chat and legacy completions'),
  embeddings: added('embeddings', 'embeddings'),
  images: added('images', 'images'),
})

/**
 * Fields by which a client could choose another model than the one it pays for, or more output than is reserved. No channel can
 * add them.
 */
const BILLED_FIELDS: readonly string[] = [
  'models',
  'fallbacks',
  'fallback_models',
  'route',
  'best_of',
  'num_choices',
  'candidate_count',
  'max_output_tokens',
  'max_new_tokens',
  'prompt',
  'messages',
  'input',
  'echo',
  'suffix',
]

/** Why a channel cannot add a field; undefined if it can. */
function addedFieldProblem(api: RelayedApi, earlier: readonly string[], path: string): string | undefined {
  const names = path.split('.')
  const parent = names
    .slice(0, -1)
    .reduce<PassingFields | string>(
      (fields, name) => (typeof fields === 'string' ? fields : innerFields(fields, name)),
      listedFields(api),
    )
  if (typeof parent === 'string') {
    return parent
  }
  const name = names.at(-1) ?? ''
  if (parent.fields.has(name)) {
    return `${path} already passes; leave it out`
  }
  const taken = [...parent.fields.keys()].find((known) => folded(known) === folded(name))
  if (taken !== undefined) {
    return `an upstream that ignores case and underscores reads ${path} as ${taken}, which already passes; leave it out`
  }
  if (parent.path === '' && BILLED_FIELDS.some((own) => folded(own) === folded(name))) {
    return `${path} would let a client change the model or the amount that is billed; leave it out`
  }
  const twice = earlier.find((other) => folded(other) === folded(path))
  return twice === undefined
    ? undefined
    : `${path} and ${twice} are the same name to an upstream that ignores case and underscores; leave one out`
}

function innerFields({ path, fields }: PassingFields, name: string): PassingFields | string {
  const inner = fields.get(name)
  const here = path === '' ? name : `${path}.${name}`
  if (inner === 'whole') {
    return `${here} already passes with all of its fields; leave this out`
  }
  const objects = [...fields].flatMap(([known, value]) => (value === 'whole' ? [] : [known]))
  return inner ?? `${here} is no listed object; write ${here} alone, or one of ${objects.join(', ')} before the dot`
}

/** Maps names to one form that lenient upstreams may treat alike: `maxTokens`, `MAX_TOKENS` and `max-tokens`. */
function folded(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}
