import * as z from 'zod'
import { FIELD_PATH } from './pass-members.ts'

/** Far more than any upstream says of itself. */
const HIDDEN_MAX = 100

/** What upstreams say of who served a request, and for which of their accounts, besides what is always hidden. */
const DEFAULT = ['usage.is_byok', 'provider', 'user_id']

/** A response without these is none, and the gateway writes or reads what is in them. */
const NEEDED: ReadonlySet<string> = new Set(['model', 'choices', 'data'])

/** Fields that no relayed response shows: a dotted path for a field of an inner object. Lists are not entered. */
export const hiddenMembers = z
  .array(
    z
      .string()
      .regex(FIELD_PATH, 'use names of letters, digits, underscores and hyphens, separated by dots, such as usage.cost')
      .refine((path) => !NEEDED.has(path.split('.')[0] ?? ''), {
        message: 'a response needs model, choices and data; leave this out',
      }),
  )
  .max(HIDDEN_MAX)
  .default(DEFAULT)
  .meta({
    description:
      'Fields of upstreams that no client sees in relayed responses, besides their prices, `provider_metadata`, and the details of errors, which are always hidden.',
  })
