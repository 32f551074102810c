import { join } from 'node:path'
import type { VideoModel } from '#core/catalogue/model.ts'
import { parseCredits } from '#core/money.ts'
import { countFailedJob } from '#store/jobs/failed-jobs.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { loadGatewayConfig } from '../../lib/config/load-gateway-config.ts'
import { REPOSITORY } from '../e2e/child-environment.ts'
import { type PastRequest, PastTraffic, type PastVideo } from '../engines/past-traffic.ts'
import { TESTER } from '../engines/tester.ts'

const DAY_SECONDS = 24 * 60 * 60

const CHAT: PastRequest = {
  operation: 'create-chat-completion',
  model: 'chat-default',
  channel: 'openai-main',
  amount: parseCredits('0.25'),
  usage: { inputTokens: 200, outputTokens: 500 },
}

/** Nine days of the tenant `demo`: a grant, three chats a day, a video that succeeded and one that failed, and three failed jobs of this hour. */
export async function writePastDays(table: Table): Promise<void> {
  await makeTenant(table, { id: 'demo', name: 'Demo', credits: parseCredits('100') }, TESTER)
  const traffic = new PastTraffic(table)
  const now = Math.trunc(Date.now() / 1000)
  const key = await traffic.key('demo', { name: 'search', createdAt: now - 9 * DAY_SECONDS })
  for (let before = 8; before >= 0; before -= 1) {
    const requests = Array.from({ length: 3 }, () => CHAT)
    await traffic.requests(key, (now - before * DAY_SECONDS - 60) * 1000, requests)
  }
  const video = pastVideo(now - DAY_SECONDS)
  await traffic.video(key, video)
  await traffic.video(key, { ...video, createdAt: video.createdAt + 60, error: 'the upstream refused the prompt' })
  for (const jobId of ['j1', 'j2', 'j3']) {
    await countFailedJob(table, { tenantId: 'demo', jobId }, Date.now())
  }
}

function pastVideo(createdAt: number): PastVideo {
  const file = join(REPOSITORY, 'config/gateway.yaml')
  const { config } = loadGatewayConfig({ file, environment: {}, mode: 'local' })
  const model = config.models.find((each): each is VideoModel => each.id === 'famB-1.1-t2v' && each.kind === 'video')
  if (model === undefined) {
    throw new Error(`${file} has no video model famB-1.1-t2v`)
  }
  return {
    model,
    createdAt,
    channel: { id: 'p1-main', provider: 'p1' },
    tookSeconds: 45,
    request: {
      model: model.id,
      prompt: 'a paper boat',
      duration: 5,
      resolution: '720P',
      aspect_ratio: '16:9',
      generate_audio: true,
      watermark: false,
      image_urls: [],
      video_urls: [],
      audio_urls: [],
    },
  }
}
