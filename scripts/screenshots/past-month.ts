import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { VideoModel } from '#core/catalogue/model.ts'
import type { Resolution } from '#core/catalogue/parameters.ts'
import { parseCredits } from '#core/money.ts'
import { createWebhookSecret } from '#platform/callback-signature.ts'
import type { Table } from '#store/table/table.ts'
import { createTenant } from '#store/tenants/tenant-lifecycle.ts'
import { type PastKey, type PastRequest, PastTraffic, type PastVideo } from '../../test/engines/past-traffic.ts'
import { seededRandom } from '../../test/engines/seeded-random.ts'

/** Days before today. */
const DAYS = 30
const DAY_SECONDS = 24 * 60 * 60

/** What a key of a tenant does on an ordinary day. */
type Habit = {
  readonly key: string
  readonly videos: number
  readonly models: readonly string[]
  readonly resolution: Resolution
  /** Groups of relayed requests a day. */
  readonly groups: number
  readonly requests: readonly PastRequest[]
}

type Story = { readonly id: string; readonly name: string; readonly credits: string; readonly habits: readonly Habit[] }

const chat = (amount: string, inputTokens: number, outputTokens: number): PastRequest => ({
  operation: 'create-chat-completion',
  model: 'chat-default',
  channel: 'openai-main',
  amount: parseCredits(amount),
  usage: { inputTokens, outputTokens },
})
const image: PastRequest = {
  operation: 'create-image',
  model: 'image-v3',
  channel: 'openai-main',
  amount: parseCredits('0.08'),
  usage: { images: 1 },
}
const embedding: PastRequest = {
  operation: 'create-embedding',
  model: 'text-embedding-3-small',
  channel: 'openai-main',
  amount: parseCredits('0.01'),
  usage: { inputTokens: 500_000 },
}

const NOTHING: Habit = { key: '', videos: 0, models: [], resolution: '720P', groups: 0, requests: [] }

/** Customers of a small platform. */
const STORIES: readonly Story[] = [
  {
    id: 'northwind',
    name: 'Northwind Studios',
    credits: '1500',
    habits: [
      { ...NOTHING, key: 'storyboard', videos: 7, models: ['famB-1.1-t2v', 'famA-2', 'famB-1.0-t2v'] },
      { ...NOTHING, key: 'final-cut', videos: 3, models: ['famB-1.1-t2v', 'famA-2-pro'], resolution: '1080P' },
      { ...NOTHING, key: 'script-assistant', groups: 3, requests: [chat('0.021', 20_000, 30_000), image] },
    ],
  },
  {
    id: 'paperlane',
    name: 'Paperlane Games',
    credits: '600',
    habits: [
      { ...NOTHING, key: 'trailers', videos: 3, models: ['famA-2-fast', 'famB-1.1-t2v'] },
      {
        ...NOTHING,
        key: 'npc-dialogue',
        groups: 6,
        requests: [chat('0.034', 60_000, 41_000), chat('0.012', 20_000, 15_000)],
      },
      { ...NOTHING, key: 'asset-search', groups: 2, requests: [embedding, image, image] },
    ],
  },
  {
    id: 'atlas',
    name: 'Atlas Learning',
    credits: '120',
    habits: [
      { ...NOTHING, key: 'tutor', groups: 5, requests: [chat('0.055', 90_000, 69_000), chat('0.02', 30_000, 25_000)] },
      { ...NOTHING, key: 'lesson-clips', videos: 1, models: ['famA-1-lite'], resolution: '480P' },
    ],
  },
]

const PROMPTS = [
  'a paper boat crosses a flooded street, seen from above',
  'the kite climbs over the harbour at dawn, slow pan',
  'a fox made of folded paper wakes up in the snow',
  'close-up of rain on a tram window, city lights behind it',
  'the lighthouse keeper opens the shutters, warm light',
  'an origami crane unfolds into a map, macro',
]

/**
 * Writes a month of three tenants: jobs and requests at working hours, fewer at weekends, with a failure now and then. The same on every
 * day that it runs, but for ids.
 */
export async function writePastMonth(table: Table, config: GatewayConfig, nowSeconds: number): Promise<void> {
  const random = seededRandom(7)
  const begin = nowSeconds - DAYS * DAY_SECONDS
  for (const { id, name, credits, habits } of STORIES) {
    await openTenant(table, { id, name, credits, at: begin })
    for (const habit of habits) {
      const traffic = new PastTraffic(table)
      const key = await traffic.key(id, { name: habit.key, createdAt: begin })
      for (let day = 0; day < DAYS; day += 1) {
        const share = shareOfDay(begin + day * DAY_SECONDS, day) * (0.7 + 0.6 * random())
        const at = () => Math.trunc(begin + (day + 0.3 + 0.6 * random()) * DAY_SECONDS)
        await writeDay({ traffic, key, habit, share, at, random, config })
      }
    }
  }
}

/** Less at weekends, and more towards the end of the month. */
function shareOfDay(atSeconds: number, day: number): number {
  const weekday = new Date(atSeconds * 1000).getUTCDay()
  return (weekday === 0 || weekday === 6 ? 0.35 : 1) * (0.7 + day / DAYS / 2)
}

type Day = {
  readonly traffic: PastTraffic
  readonly key: PastKey
  readonly habit: Habit
  readonly share: number
  readonly at: () => number
  readonly random: () => number
  readonly config: GatewayConfig
}

async function writeDay({ traffic, key, habit, share, at, random, config }: Day): Promise<void> {
  const times = (count: number) => Array.from({ length: Math.round(count * share) }, at).sort((a, b) => a - b)
  for (const [index, createdAt] of times(habit.videos).entries()) {
    const model = habit.models[Math.trunc(random() * habit.models.length)] ?? ''
    await traffic.video(key, pastVideo({ config, model, resolution: habit.resolution, createdAt, random, index }))
  }
  for (const createdAt of times(habit.groups)) {
    await traffic.requests(key, createdAt * 1000, habit.requests)
  }
}

type Wanted = {
  readonly config: GatewayConfig
  readonly model: string
  readonly resolution: Resolution
  readonly createdAt: number
  readonly random: () => number
  readonly index: number
}

function pastVideo({ config, model: id, resolution, createdAt, random, index }: Wanted): PastVideo {
  const model = config.models.find((each): each is VideoModel => each.id === id && each.kind === 'video')
  if (model === undefined) {
    throw new Error(`config/gateway.yaml has no video model ${id}`)
  }
  const channel = id.startsWith('famB')
    ? ({ id: 'p1-main', provider: 'p1' } as const)
    : ({ id: 'p2-direct', provider: 'p2' } as const)
  const isRefused = random() < 0.05
  return {
    model,
    createdAt,
    channel,
    tookSeconds: Math.round(45 + 120 * random()),
    ...(isRefused ? { error: 'the upstream refused the prompt: sensitive content' } : {}),
    request: {
      model: id,
      prompt: PROMPTS[(index + Math.trunc(random() * PROMPTS.length)) % PROMPTS.length] ?? '',
      duration: random() < 0.5 ? 5 : 10,
      resolution,
      aspect_ratio: '16:9',
      generate_audio: true,
      watermark: false,
      image_urls: [],
      video_urls: [],
      audio_urls: [],
    },
  }
}

type Opened = { readonly id: string; readonly name: string; readonly credits: string; readonly at: number }

async function openTenant(table: Table, { id, name, credits, at }: Opened): Promise<void> {
  const tenant = {
    id,
    name,
    credits: parseCredits(credits),
    webhookSecret: createWebhookSecret(),
    grantId: `contract-${id}`,
    nowMilliseconds: at * 1000,
  }
  await createTenant(table, tenant, { name: 'operator', role: 'operator' })
}
