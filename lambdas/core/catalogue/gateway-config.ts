import * as z from 'zod'
import { channelSchema } from './channel.ts'
import { consoleSettings } from './console-settings.ts'
import { crossCheck } from './cross-check.ts'
import { hiddenMembers } from './hidden-members.ts'
import { modelSchema } from './model.ts'
import { strictObject } from './strict-object.ts'

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

const allowlistEntry = z.string().refine((text) => HOST_ENTRY.test(text) || isOrigin(text), {
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
  channels: z.array(channelSchema),
  models: z.array(modelSchema).min(1),
}).superRefine((config, context) => {
  for (const issue of crossCheck(config)) {
    context.addIssue({ code: 'custom', path: issue.path, message: issue.message })
  }
})

/** The validated configuration with its defaults. */
export type GatewayConfig = z.infer<typeof gatewayConfigSchema>
