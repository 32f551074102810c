import { writeFileSync } from 'node:fs'

/** The model whose jobs stay `processing`: their first poll is due after the measurement. */
export const PROCESSING_MODEL = 'famB-1.1-t2v'

/** The model whose jobs succeed within seconds. */
export const SUCCEEDING_MODEL = 'famB-1.0-t2v'

/** Writes a gateway configuration in which no job waits for a channel and nothing but the load itself causes work. */
export function writeBenchConfig(file: string, { submitWaitSeconds }: { submitWaitSeconds: number }): void {
  const config = {
    submit_wait_seconds: submitWaitSeconds,
    channels: [
      channel('p1-processing', PROCESSING_MODEL, { first_seconds: 600, interval_seconds: 600 }),
      channel('p1-succeeding', SUCCEEDING_MODEL, { first_seconds: 4, interval_seconds: 1, requests_per_second: 15 }),
    ],
    models: [model(PROCESSING_MODEL), model(SUCCEEDING_MODEL)],
  }
  writeFileSync(file, JSON.stringify(config, null, 2))
}

type Poll = { first_seconds: number; interval_seconds: number; requests_per_second?: number }

function channel(id: string, modelId: string, poll: Poll) {
  return {
    id,
    provider: 'p1',
    base_url: 'simulator',
    async_header: 'X-Provider-Async',
    models: { [modelId]: modelId },
    max_open_jobs: 1_000_000,
    poll,
  }
}

function model(id: string) {
  const none = { min: 0, max: 0 }
  return {
    id,
    kind: 'video',
    owned_by: 'famB',
    durations: { min: 3, max: 15 },
    resolutions: ['480P', '720P', '1080P'],
    default_resolution: '720P',
    audio: { supported: true, default: true },
    images: none,
    videos: none,
    audios: none,
    billing: 'per_second',
    prices: [
      { resolution: '480P', price: '0.07' },
      { resolution: '720P', price: '0.14' },
      { resolution: '1080P', price: '0.18' },
    ],
  }
}
