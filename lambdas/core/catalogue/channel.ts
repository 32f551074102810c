import * as z from 'zod'
import { OUTPUT_LIMIT_FIELDS } from '../parameters/output-limit.ts'
import { CHANNEL_PRIORITY_MAX, CHANNEL_WEIGHT_MAX } from './channel-share.ts'
import { passMembers } from './pass-members.ts'
import { strictObject } from './strict-object.ts'

/** Appears in logs, metrics and table keys. */
const channelId = z.string().regex(/^[a-z0-9][a-z0-9-]{1,62}$/, 'use 2 to 63 lower-case letters, digits and hyphens')

/** User name and password before the host. Browsers and Node read a backslash as a slash there. */
const USERINFO = /^https?:\/\/[^/\\]*@/

/** An http(s) origin with an optional path, or `simulator` for an upstream that the local host simulates. */
const baseUrl = z
  .string()
  .refine((text) => text === 'simulator' || /^https?:\/\/[^\s?#]+$/.test(text), {
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

const proxyPaths = strictObject({
  submit: z.string().startsWith('/').default('/v1/video/generations'),
  poll: z
    .string()
    .startsWith('/')
    .includes('{id}', { message: 'the path needs {id}, where the task id goes' })
    .default('/v1/video/generations/{id}'),
})

/** A field name is a token (RFC 9110, 5.1 and 5.6.2). */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/

/** Headers of the gateway or of the connection. A channel that set one of them to `enable` would break every request. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'accept', 'accept-encoding', 'user-agent', 'x-client-request-id', 'cookie'],
  ...['content-type', 'content-length', 'content-encoding', 'host', 'connection', 'keep-alive', 'expect', 'date'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'proxy-authorization', 'proxy-connection'],
])

const p1Channel = strictObject({
  ...common,
  ...video,
  provider: z.literal('p1'),
  async_header: z
    .string()
    .regex(HEADER_NAME, 'use a header name')
    .refine((name) => !OWN_HEADERS.has(name.toLowerCase()), {
      message: 'the gateway or the connection sets this header: use the header for asynchronous mode of this upstream',
    })
    .meta({ description: 'The header that requests asynchronous mode; its value is always enable.' }),
  reference_checks: referenceChecks.default(true),
})

const p2Channel = strictObject({
  ...common,
  ...video,
  provider: z.literal('p2'),
  route: z.enum(['direct', 'international', 'proxy']),
  paths: proxyPaths.default({ submit: '/v1/video/generations', poll: '/v1/video/generations/{id}' }),
  reference_checks: referenceChecks.default(false),
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

const openaiChannel = strictObject({
  ...common,
  models: z.record(z.string(), z.string().min(1)).meta({ description: 'The upstream’s model id by public model id.' }),
  provider: z.literal('openai'),
  timeouts: timeouts.default({ connect_seconds: 5, first_byte_seconds: 240, idle_seconds: 120 }),
  breaker: breaker.default({ failures: 5, pause_seconds: 10 }),
  output_limit_member: z
    .enum(OUTPUT_LIMIT_FIELDS)
    .optional()
    .meta({ description: 'The field by which this upstream limits the tokens of a completion.' }),
  pass_members: passMembers.default({ chat: [], embeddings: [], images: [] }),
})

/** An upstream account at a base url. */
export const channelSchema = z.discriminatedUnion('provider', [p1Channel, p2Channel, openaiChannel])

/** A validated channel with its defaults. */
export type Channel = z.infer<typeof channelSchema>
/** A channel of the provider P1. */
export type P1Channel = z.infer<typeof p1Channel>
/** A channel of the provider P2. */
export type P2Channel = z.infer<typeof p2Channel>
/** A channel that generates videos. */
export type VideoChannel = P1Channel | P2Channel
/** A channel that chat, completions, embeddings and images are relayed to. */
export type RelayChannel = z.infer<typeof openaiChannel>
