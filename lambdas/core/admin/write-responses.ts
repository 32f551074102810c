import * as z from 'zod'
import { GIVEN_ROLES } from '../roles.ts'
import { pageOf, tenantName, timeField } from './read-responses.ts'

/** The end of a job by an owner. */
export const videoCancellationResponse = z.strictObject({
  object: z.literal('video.cancellation'),
  id: z.string(),
  tenant: z.string(),
  status: z.string(),
  changed: z.boolean().describe('False for a job that an operator cancelled before.'),
})

/** A new execution of a job. */
export const videoRedriveResponse = z.strictObject({
  object: z.literal('video.redrive'),
  id: z.string(),
  tenant: z.string(),
  execution: z.string(),
  replaced: z.enum(['missing', 'broken', 'ended']).describe('The state of the execution before.'),
})

/** How this deployment lets users sign in. */
export const signInResponse = z.strictObject({
  object: z.literal('sign_in'),
  methods: z.array(z.enum(['admin_key', 'api_key', 'oidc', 'link'])),
  oidc: z
    .strictObject({
      issuer: z.string(),
      label: z.string().nullable().describe('The text of its button, if configured.'),
    })
    .nullable(),
  environment: z.enum(['local', 'aws']),
})

const session = {
  id: z.string(),
  kind: z.enum(['admin_key', 'api_key', 'oidc', 'local']),
  actor: z.string().describe('As the audit log names the user.'),
  role: z.enum([...GIVEN_ROLES, 'tenant']),
  tenant: tenantName.nullable().describe('Of a role of one tenant.'),
  created_at: timeField,
  expires_at: timeField,
}

/** The session of the request. */
export const sessionResponse = z.strictObject({
  object: z.literal('session'),
  ...session,
  assignments: z
    .array(z.strictObject({ role: z.enum(GIVEN_ROLES), tenant: tenantName.nullable() }))
    .describe(
      'What `switch-session` can switch to: of one tenant, or of all for null. Empty but for users of an OpenID provider.',
    ),
  page_secret: z
    .string()
    .optional()
    .describe('Only of a sign-in on loopback: the page sends it as `x-reelgate-page` with every request.'),
})

/** Sessions, newest first. */
export const sessionListResponse = pageOf(
  z.strictObject({
    ...session,
    seen_at: timeField.nullable(),
    current: z.boolean().describe('Whether it is the session of the request.'),
  }),
)
