import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { VideoModel } from '#core/catalogue/model.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'

const video = {
  reference_checks: false,
  max_open_jobs: 100,
  deadline_minutes: 60,
  poll: {},
  priority: 0,
  weight: 1,
  api_key: '',
  models: {},
}

/** A channel of a provider with its own fields, at any base url. The configuration knows their types. */
export function sampleChannel(
  own: Readonly<Record<string, unknown>> & { readonly provider: string },
): (baseUrl: string) => VideoChannel {
  return (baseUrl) => ({ ...video, id: `${own.provider}-main`, ...own, base_url: baseUrl }) as unknown as VideoChannel
}

export function p1Channel(baseUrl: string): VideoChannel {
  return { ...video, id: 'p1-main', provider: 'p1', base_url: baseUrl, async_header: 'X-P1-Async' }
}

export function p2Channel(baseUrl: string, route: 'direct' | 'international' | 'proxy'): VideoChannel {
  const paths = { submit: '/v1/video/generations', poll: '/v1/video/generations/{id}' }
  return { ...video, id: `p2-${route}`, provider: 'p2', base_url: baseUrl, route, paths }
}

/** A model that takes text alone; the members that a test is about are given. */
export function sampleModel(members: Partial<VideoModel> = {}): VideoModel {
  return {
    id: 'sample',
    kind: 'video',
    enabled: true,
    owned_by: 'sample',
    created: 1_767_225_600,
    durations: { min: 3, max: 15 },
    resolutions: ['480P', '720P', '1080P'],
    default_resolution: '720P',
    audio: { supported: true, default: true },
    images: { min: 0, max: 0 },
    videos: { min: 0, max: 0 },
    audios: { min: 0, max: 0 },
    input_video_seconds_max: 0,
    output_follows_input: false,
    prompt_flags: false,
    billing: 'token',
    prices: [{ resolution: 'any', audio: 'any', video_input: 'any', price: '1' }],
    ...members,
  }
}

/** A request with everything that must never reach an upstream in it. */
export function sampleRequest(members: Partial<VideoJobRequest> = {}): VideoJobRequest {
  return {
    model: 'public-id',
    prompt: 'x',
    duration: 5,
    resolution: '720P',
    aspect_ratio: '16:9',
    generate_audio: true,
    watermark: true,
    fps: 30,
    callback_url: 'https://hooks.example.com/done',
    image_urls: [],
    video_urls: [],
    audio_urls: [],
    ...members,
  }
}
