import * as z from 'zod'
import { OUTPUT_LIMIT_FIELDS } from '../parameters/output-limit.ts'
import { passMembers } from './pass-members.ts'
import { strictObject } from './strict-object.ts'

/** An id that appears in logs, metrics and table keys. */
const channelId = z.string().regex(/^[a-z0-9][a-z0-9-]{1,62}$/, 'use 2 to 63 lower-case letters, digits and hyphens')

/** Something before an at sign, where a host begins; browsers and Node read a backslash there as a slash. */
const USERINFO = /^https?:\/\/[^/\\]*@/

/**
 * Where an upstream listens: an http(s) origin with an optional path, or the word `simulator`
 * for one that the local host starts (left out of a deployment).
 */
const baseUrl = z
  .string()
  .refine((text) => text === 'simulator' || /^https?:\/\/[^\s?#]+$/.test(text), {
    message: 'use an http(s) url without query, or the word simulator',
  })
  .refine((text) => !USERINFO.test(text), {
    message:
      'a url with a user name or a password shows them to whoever reads the configuration: put the secret into `api_key`',
  })
  .transform((text) => text.replace(/\/+$/, ''))

/** Public model id to the upstream's own; two ids where the upstream splits text-only from image input. */
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
    .meta({ description: 'Polls that all jobs of this channel together may send.' }),
})

const common = {
  id: channelId,
  base_url: baseUrl,
  api_key: z
    .string()
    .regex(
      /^(\$\{[A-Z][A-Z0-9_]*\})?$/,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
      'write ${NAME}: the environment variable locally, the entry of the channel secret on AWS',
    )
    .default('')
    .meta({ description: 'Never the key itself.' }),
  models: upstreamModels,
  priority: z.number().int().min(0).max(1000).default(0).meta({ description: 'Lower is tried first.' }),
  weight: z.number().positive().max(1000).default(1).meta({ description: 'Share among channels of equal priority.' }),
}

const video = {
  max_open_jobs: z.number().int().min(1).max(1_000_000).default(100),
  deadline_minutes: z.number().int().min(1).max(360).default(60),
  poll: poll.default({}),
}

const referenceChecks = z
  .boolean()
  .meta({ description: 'Looks at reference files before a submit; what breaks `reference_limits` fails the job.' })

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

/** Headers that the gateway itself sends, or that belong to the connection: the word `enable` in their place breaks every request. */
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
      message:
        'the gateway or the connection sets this header: use the name of the one that asks for asynchronous mode',
    })
    .meta({ description: 'The header that asks this upstream for asynchronous mode; sent with the value enable.' }),
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
  connect_seconds: z.number().positive().max(60).default(5).meta({ description: 'Until the connection stands.' }),
  first_byte_seconds: z
    .number()
    .positive()
    .max(280)
    .default(240)
    .meta({ description: 'Until the answer begins; API Gateway gives up a silent answer after 300.' }),
  idle_seconds: z.number().positive().max(280).default(120).meta({ description: 'Between two pieces of an answer.' }),
})

const breaker = strictObject({
  failures: z
    .number()
    .int()
    .min(0)
    .max(1000)
    .default(5)
    .meta({ description: 'Failures in a row that open it; 0: it never opens, as tests want it.' }),
  pause_seconds: z
    .number()
    .positive()
    .max(3600)
    .default(10)
    .meta({ description: 'How long an open channel rests before one request tries it.' }),
})

const openaiChannel = strictObject({
  ...common,
  models: z.record(z.string(), z.string().min(1)).meta({ description: 'Public model id to the upstream’s own.' }),
  provider: z.literal('openai'),
  timeouts: timeouts.default({ connect_seconds: 5, first_byte_seconds: 240, idle_seconds: 120 }),
  breaker: breaker.default({ failures: 5, pause_seconds: 10 }),
  output_limit_member: z
    .enum(OUTPUT_LIMIT_FIELDS)
    .optional()
    .meta({ description: 'Under which name this upstream takes the most tokens of a completion.' }),
  pass_members: passMembers.default({ chat: [], embeddings: [], images: [] }),
})

/** One upstream account under one base url. */
export const channelSchema = z.discriminatedUnion('provider', [p1Channel, p2Channel, openaiChannel])

/** An upstream account, validated and with its defaults filled in. */
export type Channel = z.infer<typeof channelSchema>
/** A channel of the first video provider. */
export type P1Channel = z.infer<typeof p1Channel>
/** A channel of the second video provider. */
export type P2Channel = z.infer<typeof p2Channel>
/** An upstream that generates videos. */
export type VideoChannel = P1Channel | P2Channel
/** An upstream that chat, completions, embeddings and images are relayed to. */
export type RelayChannel = z.infer<typeof openaiChannel>
