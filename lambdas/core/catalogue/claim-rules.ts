import * as z from 'zod'
import { GIVEN_ROLES, isOfTenant } from '../roles.ts'
import { strictObject } from './schema-parts.ts'

/** JSON numbers beyond these are rounded, so that an id would match its neighbours. */
const EXACT = `use a number of at most ${Number.MAX_SAFE_INTEGER}: larger ones cannot be told apart`
const number = z.number().min(Number.MIN_SAFE_INTEGER, EXACT).max(Number.MAX_SAFE_INTEGER, EXACT)

const scalar = z.union([z.string().min(1).max(500), number, z.boolean()])

/** What the claims of a token must be. */
export const claimConditions = z
  .record(z.string().min(1).max(200), z.union([scalar, z.array(scalar).min(1).max(100)]))
  .refine((when) => Object.keys(when).length > 0, { message: 'name at least one claim, or every token would match' })
  .meta({
    description:
      'Claims and what they must be: a string in which `*` stands for any characters, a number, a boolean, or a list of which one must match. A name that begins with `/` is a JSON pointer.',
  })

/** Gives users of the console a role, and some roles a tenant. */
export const consoleRule = strictObject({
  name: z.string().min(1).max(100).meta({ description: 'For people.' }),
  when: claimConditions,
  role: z.enum(GIVEN_ROLES),
  tenant: z.string().min(1).max(200).optional().meta({
    description: 'The tenant of a `tenant-admin` or a `tenant-viewer`: its id, or a name that no other tenant has.',
  }),
}).refine(({ role, tenant }) => isOfTenant(role) === (tenant !== undefined), {
  message: 'name a tenant for tenant-admin and tenant-viewer, and for no other role',
  path: ['tenant'],
})
