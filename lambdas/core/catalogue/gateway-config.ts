import * as z from 'zod'
import { LOOPBACK_NAMES } from '../http.ts'
import { type Channel, channelSchema, FIELD_PATH } from './channel.ts'
import { consoleRule } from './claim-rules.ts'
import { identitySettings, isIssuer, issuerProblem } from './identity-settings.ts'
import {
  type ChatModel,
  type EmbeddingModel,
  type ImageModel,
  type Model,
  modelSchema,
  type VideoModel,
} from './model.ts'
import { findImagePrice, findVideoPrice, imagePriceTiers } from './price-rows.ts'
import { strictObject } from './schema-parts.ts'
import { foreignTokenPlaces, plainSignaturePlaces } from './upstream-auth.ts'

const RULES_MAX = 200

const oidc = strictObject({
  issuer: z
    .string()
    .max(500)
    .refine(isIssuer, {
      error: issuerProblem('use the issuer of the provider, such as https://login.example.com, without a query'),
    })
    .meta({ description: 'The issuer, exactly as its discovery document names it.' }),
  client_id: z.string().min(1).max(200),
  label: z
    .string()
    .min(1)
    .max(60)
    .optional()
    .meta({ description: 'The text of the sign-in button. Default: `Sign in with`, and the host of the issuer.' }),
  scope: z.string().max(200).default('openid email profile').meta({ description: 'The scopes that are asked for.' }),
  rules: z.array(consoleRule).min(1, 'write at least one rule, or nobody can sign in').max(RULES_MAX).meta({
    description: 'Who has which role. Every rule that matches the ID token counts; `email` needs `email_verified`.',
  }),
})

/** Who may sign in to the console, besides holders of keys. */
export const consoleSettings = strictObject({
  oidc: oidc.optional().meta({ description: 'An OpenID provider whose users sign in to the console.' }),
})

/** The OpenID provider of the console. */
export type OidcSettings = z.infer<typeof oidc>

/** A problem of the configuration. */
export type ConfigIssue = { path: (string | number)[]; message: string }

/** The fields of a channel that rows of models are compared with; also of a row that breaks its schema. */
type ChannelRow = { readonly id?: string | undefined; readonly provider?: string | undefined; readonly models: object }

/** A model, or the id of a row that breaks its schema. */
type ModelRow = Model | { readonly id?: string | undefined; readonly kind?: undefined }

/** Checks what the schema of a single row cannot: unique ids, references between rows, and prices without gaps. */
export function crossCheck(config: { channels: readonly ChannelRow[]; models: readonly ModelRow[] }): ConfigIssue[] {
  return [
    ...duplicates(config.channels, 'channels'),
    ...duplicates(config.models, 'models'),
    ...config.channels.flatMap((channel, index) => channelModels(channel, index, config.models)),
    ...config.models.flatMap((model, index) =>
      model.kind === undefined
        ? []
        : modelIssues(model).map(({ path, message }) => ({ path: ['models', index, ...path], message })),
    ),
  ]
}

function duplicates(rows: readonly { readonly id?: string | undefined }[], section: string): ConfigIssue[] {
  const seen = new Set<string>()
  return rows.flatMap(({ id }, index) => {
    if (id === undefined || !seen.has(id)) {
      seen.add(id ?? '')
      return []
    }
    return [{ path: [section, index, 'id'], message: `"${id}" is used twice; every id must be unique` }]
  })
}

function channelModels({ provider, models: served }: ChannelRow, index: number, models: readonly ModelRow[]) {
  return Object.keys(served).flatMap((id): ConfigIssue[] => {
    const path = ['channels', index, 'models', id]
    const model = models.find((candidate) => candidate.id === id)
    if (model === undefined) {
      const ids = models.flatMap((each) => each.id ?? [])
      return [{ path, message: `no model "${id}" in models${ids.length === 0 ? '' : `; allowed: ${ids.join(', ')}`}` }]
    }
    const isChecked = provider !== undefined && model.kind !== undefined
    if (isChecked && (model.kind === 'video') !== (provider !== 'openai')) {
      return [{ path, message: `a channel of provider ${provider} cannot serve a model of kind ${model.kind}` }]
    }
    return []
  })
}

function unsafePlaces({
  channels,
  trusted_origins: trusted,
}: {
  readonly channels: readonly Channel[]
  readonly trusted_origins: readonly string[]
}): ConfigIssue[] {
  return channels.flatMap((channel, index) =>
    channel.provider === 'openai'
      ? [...foreignTokenPlaces(channel, trusted), ...plainSignaturePlaces(channel)].map(({ path, message }) => ({
          path: ['channels', index, ...path],
          message,
        }))
      : [],
  )
}

function modelIssues(model: Model): ConfigIssue[] {
  switch (model.kind) {
    case 'video':
      return videoModelIssues(model)
    case 'image':
      return imageModelIssues(model)
    case 'chat':
      return [...outputLimitIssues(model), ...billingIssues(model)]
    case 'embedding':
      return billingIssues(model)
    default:
      return model satisfies never
  }
}

function videoModelIssues(model: VideoModel): ConfigIssue[] {
  const issues: ConfigIssue[] = []
  if (model.durations.min > model.durations.max) {
    issues.push({ path: ['durations'], message: 'min must be at most max' })
  }
  if (!model.resolutions.includes(model.default_resolution)) {
    issues.push({
      path: ['default_resolution'],
      message: `${model.default_resolution} is not in resolutions; allowed: ${model.resolutions.join(', ')}`,
    })
  }
  if (model.videos.max > 0 && model.input_video_seconds_max === 0) {
    issues.push({
      path: ['input_video_seconds_max'],
      message: 'a model that takes a reference video needs its longest length in seconds for the estimate',
    })
  }
  return [...issues, ...unpricedCells(model).map((message) => ({ path: ['prices'], message }))]
}

function unpricedCells(model: VideoModel): string[] {
  const audios = [true, false]
  const videoInputs = [...(model.videos.min === 0 ? [false] : []), ...(model.videos.max > 0 ? [true] : [])]
  const cells = model.resolutions.flatMap((resolution) =>
    audios.flatMap((audio) => videoInputs.map((videoInput) => ({ resolution, audio, videoInput }))),
  )
  return cells
    .filter((cell) => findVideoPrice(model.prices, cell) === undefined)
    .map((cell) => `no price for resolution ${cell.resolution}, audio ${cell.audio}, video_input ${cell.videoInput}`)
}

/**
 * Checks that each size at each quality has a price, and that each row is for a size and a quality of the model: after a typing
 * error another row would set the price. Paths begin at the model.
 */
export function imageModelIssues(model: ImageModel): ConfigIssue[] {
  const unpriced = imagePriceTiers(model)
    .filter((tier) => findImagePrice(model.prices, tier) === undefined)
    .map(({ size, quality }) => `no price for size ${size}${quality === undefined ? '' : `, quality ${quality}`}`)
  const unknown = model.prices.flatMap((row, index) => [
    ...rowIssues(['prices', index, 'size'], row.size, model.sizes),
    ...rowIssues(['prices', index, 'quality'], row.quality, model.qualities),
  ])
  return [...unknown, ...unpriced.map((message) => ({ path: ['prices'], message }))]
}

function rowIssues(path: (string | number)[], value: string, offered: readonly string[]): ConfigIssue[] {
  const allowed = ['any', ...offered]
  return allowed.includes(value) ? [] : [{ path, message: `not allowed; allowed: ${allowed.join(', ')}` }]
}

function outputLimitIssues({ default_max_output_tokens: fallback, max_output_tokens: most }: ChatModel): ConfigIssue[] {
  const message = `above max_output_tokens; allowed: 1 to ${most}`
  return fallback === undefined || fallback <= most ? [] : [{ path: ['default_max_output_tokens'], message }]
}

/** The form of a price row must match `billing`, because the form decides what is billed. */
function billingIssues({ billing, prices }: ChatModel | EmbeddingModel): ConfigIssue[] {
  const message = billing === 'token' ? 'billing token needs prices per million' : 'billing per_request needs one price'
  const others = [...prices.entries()].filter(([, row]) => 'price' in row !== (billing === 'per_request'))
  return others.map(([index]) => ({ path: ['prices', index], message }))
}

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

const HOST_LABEL = '[a-z0-9]([a-z0-9-]*[a-z0-9])?'
const HOST_ENTRY = new RegExp(`^(\\*\\.)?(${HOST_LABEL}\\.)+[a-z][a-z0-9-]*$`)
const ORIGIN = /^https?:\/\/[^\s/?#@\\]+$/

/** Refuses origins that could never match, such as one with a port above 65535. */
function isOrigin(text: string): boolean {
  return ORIGIN.test(text) && URL.canParse(text)
}

const ORIGIN_MESSAGE = 'use an origin such as http://127.0.0.1:9400, without a path or a trailing slash'

/** Editors see the pattern alone. The second rule applies only to what the first accepts, so that one issue is reported. */
const origin = z
  .string()
  .regex(ORIGIN, ORIGIN_MESSAGE)
  .refine((text) => !ORIGIN.test(text) || isOrigin(text), { message: ORIGIN_MESSAGE })

const CORS_ORIGIN_MESSAGE =
  'use `*`, or an origin exactly as browsers send it: scheme, lower-case host and a port that is not the default, such as https://app.example.com or http://localhost:5173'

function isBrowserOrigin(text: string): boolean {
  return text === '*' || (isOrigin(text) && !text.includes('*') && new URL(text).origin === text)
}

const corsOrigin = z.string().max(100).refine(isBrowserOrigin, { message: CORS_ORIGIN_MESSAGE })

/** Functions read the origins from a variable, whose size is limited. */
const CORS_ORIGINS_MAX = 20

const cors = strictObject({
  origins: z
    .array(corsOrigin)
    .max(CORS_ORIGINS_MAX)
    .refine((origins) => origins.length === 1 || !origins.includes('*'), {
      message: '`*` allows every origin: list it alone, or leave it out',
    })
    .default([])
    .meta({
      description: 'Origins whose scripts may call the API and read videos in a browser: exact origins, or `*` alone.',
    }),
})

/** Any port of this machine, which only a local host can mean. */
export const LOOPBACK_CALLBACKS: readonly string[] = LOOPBACK_NAMES.map((name) => `http://${name}:*`)

function isAllowlistEntry(text: string): boolean {
  return HOST_ENTRY.test(text) || isOrigin(text) || LOOPBACK_CALLBACKS.includes(text)
}

const allowlistEntry = z.string().refine(isAllowlistEntry, {
  message:
    'use a lower-case host (hooks.example.com), a suffix (*.partner.example) or an origin (http://127.0.0.1:9400)',
})

/** `config/gateway.yaml` after the substitution of `${NAME}`. */
export const gatewayConfigSchema = strictObject({
  $schema: z.string().optional(),
  unit: z.literal('credit').default('credit'),
  callback_allowlist: z.array(allowlistEntry).default([]),
  trusted_origins: z.array(origin).default([]),
  cors: cors.default({ origins: [] }),
  submit_wait_seconds: z.number().min(0).max(25).default(10),
  answer_seconds: z.number().min(1).max(290).default(290).meta({
    description:
      'Longest silence towards the client of a relayed request: all channels and the body of a whole response together.',
  }),
  queue_minutes: z.number().min(1).max(360).default(60),
  max_video_bytes: z.number().int().min(1).max(10_737_418_240).default(2_147_483_648),
  hidden_members: hiddenMembers,
  console: consoleSettings.default({}),
  identity: identitySettings.default({ issuers: [] }),
  channels: z.array(channelSchema),
  models: z.array(modelSchema).min(1),
}).superRefine((config, context) => {
  for (const issue of [...crossCheck(config), ...unsafePlaces(config), ...ruleModels(config)]) {
    context.addIssue({ code: 'custom', path: issue.path, message: issue.message })
  }
})

/** Models of rules that do not exist: a typing error would leave a subject without its model. */
function ruleModels({ identity, models }: Pick<GatewayConfig, 'identity' | 'models'>): ConfigIssue[] {
  const known = new Set(models.map(({ id }) => id))
  return identity.issuers.flatMap(({ rules }, issuer) =>
    rules.flatMap((rule, index) =>
      (rule.models ?? []).flatMap((model, place) =>
        known.has(model)
          ? []
          : [
              {
                path: ['identity', 'issuers', issuer, 'rules', index, 'models', place],
                message: `no model "${model}" in models; allowed: ${[...known].join(', ')}`,
              },
            ],
      ),
    ),
  )
}

/** The validated configuration with its defaults. */
export type GatewayConfig = z.infer<typeof gatewayConfigSchema>
