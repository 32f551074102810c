import * as z from 'zod'
import { type AllowedFields, folded, GATED_FIELDS, listedFields, type RelayedApi } from '../allowed-fields.ts'
import { CHANNEL_PRIORITY_MAX, CHANNEL_WEIGHT_MAX } from '../limits.ts'
import { VIDEO_PROVIDERS } from '../providers/registry.ts'
import { OUTPUT_LIMIT_FIELDS } from './parameters.ts'
import { strictObject } from './schema-parts.ts'

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

/** A tool that the upstream runs, such as `tools.web_search`; a dated name is the one before its date. */
const HOSTED_TOOL = /^tools\.[a-z][a-z0-9_]{0,63}$/

function gated(routes: string) {
  return z
    .array(
      z.string().refine((name) => GATED_FIELDS.some((known) => known === name) || HOSTED_TOOL.test(name), {
        message: `use ${GATED_FIELDS.join(', ')}, or a tool that the upstream runs, such as tools.web_search`,
      }),
    )
    .max(ADDED_MAX)
    .optional()
    .meta({ description: `What else passes to this upstream, and may cost more than tokens: ${routes}.` })
}

/** The fields that pass to a channel in addition to the listed ones; a dotted path for a field of an inner object. */
export const passMembers = strictObject({
  chat: added('chat', 'chat and legacy completions'),
  embeddings: added('embeddings', 'embeddings'),
  images: added('images', 'images'),
  responses: gated('responses'),
  messages: gated('messages'),
})

const apiPath = z.string().regex(/^(\/[A-Za-z0-9._~-]+)+$/, 'use a path such as /responses')

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
    .reduce<AllowedFields | string>(
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

function innerFields({ path, fields }: AllowedFields, name: string): AllowedFields | string {
  const inner = fields.get(name)
  const here = path === '' ? name : `${path}.${name}`
  if (inner === 'whole') {
    return `${here} already passes with all of its fields; leave this out`
  }
  const objects = [...fields].flatMap(([known, value]) => (value === 'whole' ? [] : [known]))
  return inner ?? `${here} is no listed object; write ${here} alone, or one of ${objects.join(', ')} before the dot`
}

/** Appears in logs, metrics and table keys. */
const channelId = z.string().regex(/^[a-z0-9][a-z0-9-]{1,62}$/, 'use 2 to 63 lower-case letters, digits and hyphens')

/** User name and password before the host. Browsers and Node read a backslash as a slash there. */
const USERINFO = /^https?:\/\/[^/\\]*@/

/** An http(s) origin with an optional path, or `simulator` for an upstream that the local host simulates. */
const baseUrl = z
  .string()
  .refine((text) => /^(simulator)?$/.test(text) || /^https?:\/\/[^\s?#]+$/.test(text), {
    message: 'use an http(s) url without query, or the word simulator',
  })
  .refine((text) => !USERINFO.test(text), {
    message: 'leave the user name and password out of the url, which is not secret: put the secret into `api_key`',
  })
  .transform((text) => text.replace(/\/+$/, ''))

/** The upstream's model id by public model id; two ids if the upstream separates text from image input. */
const upstreamModels = z.record(
  z.string(),
  z.union([z.string().min(1), strictObject({ text: z.string().min(1), image: z.string().min(1) })]),
)

const poll = strictObject({
  first_seconds: z.number().int().min(1).max(3600).optional().meta({ description: 'Wait before the first poll.' }),
  interval_seconds: z.number().int().min(1).max(3600).optional().meta({ description: 'Wait between later polls.' }),
  requests_per_second: z
    .number()
    .positive()
    .max(1000)
    .optional()
    .meta({ description: 'Polls of all jobs of this channel together.' }),
})

/** Lower is tried first. */
export const channelPriority = z.number().int().min(0).max(CHANNEL_PRIORITY_MAX)

/** Share among channels of equal priority. */
export const channelWeight = z.number().positive().max(CHANNEL_WEIGHT_MAX)

const common = {
  id: channelId,
  base_url: baseUrl,
  api_key: z
    .string()
    .regex(
      /^(\$\{[A-Z][A-Z0-9_]*\})?$/,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the operator writes exactly this.
      'write ${NAME}: an environment variable of the local host, an entry of the channel secret on AWS',
    )
    .default('')
    .meta({ description: 'Never the key itself.' }),
  models: upstreamModels,
  priority: channelPriority.default(0).meta({ description: 'Lower is tried first.' }),
  weight: channelWeight.default(1).meta({ description: 'Share among channels of equal priority.' }),
}

const video = {
  max_open_jobs: z.number().int().min(1).max(1_000_000).default(100),
  deadline_minutes: z.number().int().min(1).max(360).default(60),
  poll: poll.default({}),
}

const referenceChecks = z
  .boolean()
  .meta({ description: 'Checks reference files before a submit. A file that breaks `reference_limits` fails the job.' })

const apis = strictObject({
  chat: apiPath.optional(),
  responses: apiPath.optional(),
  messages: strictObject({ base_url: baseUrl.optional(), path: apiPath }).optional(),
})
  .refine((places) => Object.values(places).some((place) => place !== undefined), { message: 'name at least one API' })
  .optional()
  .meta({
    description: 'The APIs that this upstream speaks, each with its path below the base url. Without it: chat alone.',
  })

/** A field name is a token (RFC 9110, 5.1 and 5.6.2). */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/

/** Headers of the gateway or of the connection. A channel that set one of them to `enable` would break every request. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'accept', 'accept-encoding', 'user-agent', 'x-client-request-id', 'cookie'],
  ...['content-type', 'content-length', 'content-encoding', 'host', 'connection', 'keep-alive', 'expect', 'date'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'proxy-authorization', 'proxy-connection'],
])

const headerName = z
  .string()
  .regex(HEADER_NAME, 'use a header name')
  .refine((name) => !OWN_HEADERS.has(name.toLowerCase()), {
    message: 'the gateway or the connection sets this header: use the header for asynchronous mode of this upstream',
  })

const timeouts = strictObject({
  connect_seconds: z.number().positive().max(60).default(5).meta({ description: 'Until the connection is open.' }),
  first_byte_seconds: z
    .number()
    .positive()
    .max(280)
    .default(240)
    .meta({ description: 'Until the response begins. API Gateway ends a silent response after 300 seconds.' }),
  idle_seconds: z.number().positive().max(280).default(120).meta({ description: 'Between two pieces of a response.' }),
})

const breaker = strictObject({
  failures: z
    .number()
    .int()
    .min(0)
    .max(1000)
    .default(5)
    .meta({ description: 'Consecutive failures that open the breaker; 0: it never opens.' }),
  pause_seconds: z
    .number()
    .positive()
    .max(3600)
    .default(10)
    .meta({ description: 'How long the breaker stays open before one request tries the channel.' }),
})

const awsRegion = z.string().regex(/^[a-z]{2,}(-[a-z]+)+-\d+$/, 'use a region, such as us-east-1')

const awsAuth = strictObject({
  service: z.enum(['bedrock', 'bedrock-mantle']),
  region: awsRegion.optional().meta({ description: 'Where the models run; left out for the region of the stage.' }),
  role_arn: z
    .string()
    .regex(/^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/, 'use the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME')
    .optional()
    .meta({ description: 'A role to assume for an hour at a time, such as one of another account.' }),
  external_id: z
    .string()
    .regex(/^[\w+=,.@:/-]{2,1224}$/, 'use 2 to 1224 letters, digits and _+=,.@:/-')
    .optional()
    .meta({ description: 'What the role to assume demands; not secret.' }),
}).refine((aws) => aws.external_id === undefined || aws.role_arn !== undefined, {
  message: 'external_id is for a role that is assumed: add role_arn, or leave it out',
  path: ['external_id'],
})

/** Ids are single words, which a provider issues. */
const issuedId = z.string().regex(/^[\w.:/-]{1,200}$/, 'use the id as the provider shows it')
const tokenUrl = z
  .url({ protocol: /^https?$/ })
  .optional()
  .meta({ description: 'Where tokens are exchanged; left out for the endpoint of the provider.' })

const workloadIdentity = z.discriminatedUnion('provider', [
  strictObject({
    provider: z.literal('openai'),
    identity_provider_id: issuedId,
    service_account_id: issuedId,
    token_url: tokenUrl,
  }),
  strictObject({
    provider: z.literal('anthropic'),
    federation_rule_id: issuedId,
    organization_id: issuedId,
    service_account_id: issuedId,
    workspace_id: issuedId.optional(),
    token_url: tokenUrl,
  }),
])

/** How a channel proves who it is without a secret of its own. */
const auth = strictObject({
  aws: awsAuth.optional().meta({ description: 'Signs each request with the role of the function, or one it assumes.' }),
  workload_identity: workloadIdentity
    .optional()
    .meta({ description: 'Exchanges a token of the function’s role for one of the provider.' }),
}).refine((ways) => (ways.aws === undefined) !== (ways.workload_identity === undefined), {
  message: 'name one of aws and workload_identity',
})

const openaiChannel = strictObject({
  ...common,
  base_url: baseUrl.default('').meta({
    description: 'The address of the upstream, with its version; `auth.aws` has that of its service as a default.',
  }),
  auth: auth.optional().meta({ description: 'In place of `api_key`: credentials that nobody has to store.' }),
  models: z
    .record(z.string(), z.union([z.string().min(1), strictObject({ id: z.string().min(1), apis })]))
    .meta({ description: 'The upstream’s model id by public model id, with APIs of its own where they differ.' }),
  apis,
  provider: z.literal('openai'),
  timeouts: timeouts.default({ connect_seconds: 5, first_byte_seconds: 240, idle_seconds: 120 }),
  breaker: breaker.default({ failures: 5, pause_seconds: 10 }),
  output_limit_member: z
    .enum(OUTPUT_LIMIT_FIELDS)
    .optional()
    .meta({ description: 'The field by which this upstream limits the tokens of a completion.' }),
  pass_members: passMembers.default({ chat: [], embeddings: [], images: [] }),
}).superRefine(({ api_key: key, auth: ways, base_url: address }, context) => {
  if (key !== '' && ways !== undefined) {
    const message = 'a channel has one kind of credential: leave out api_key, or auth'
    context.addIssue({ code: 'custom', path: ['auth'], message })
  }
  if (address === '' && ways?.aws === undefined) {
    context.addIssue({ code: 'custom', path: ['base_url'], message: 'is missing; write a string' })
  }
})

type Provider = (typeof VIDEO_PROVIDERS)[number]

/** The schema of a provider's channels. */
type VideoChannelSchema<Of extends Provider> = z.ZodObject<
  typeof common & typeof video & ReturnType<Of['settings']> & ProviderFields<Of['name']>,
  z.core.$strict
>

type ProviderFields<Name extends string> = {
  provider: z.ZodLiteral<Name>
  reference_checks: z.ZodDefault<typeof referenceChecks>
}

type SchemasOf<List extends readonly Provider[]> = { [Index in keyof List]: VideoChannelSchema<List[Index]> }
type VideoChannelSchemas = SchemasOf<typeof VIDEO_PROVIDERS>

function videoChannels(): VideoChannelSchemas
function videoChannels(): unknown {
  return VIDEO_PROVIDERS.map(({ name, settings, checksReferences }) =>
    strictObject({
      ...common,
      ...video,
      provider: z.literal(name),
      ...settings({ z, strictObject, headerName }),
      reference_checks: referenceChecks.default(checksReferences),
    }),
  )
}

/** An upstream account at a base url. */
export const channelSchema = z.discriminatedUnion('provider', [...videoChannels(), openaiChannel])

/** A validated channel with its defaults. */
export type Channel = VideoChannel | RelayChannel
/** A channel that generates videos. */
export type VideoChannel = z.infer<VideoChannelSchemas[number]>
/** A channel that chat, completions, embeddings and images are relayed to. */
export type RelayChannel = z.infer<typeof openaiChannel>
/** How requests to AWS are signed. */
export type AwsAuth = z.infer<typeof awsAuth>
/** Whose tokens a channel uses, and as whom. */
export type WorkloadIdentity = z.infer<typeof workloadIdentity>
