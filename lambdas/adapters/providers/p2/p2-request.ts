import type { SubmitCommand } from '../video/video-provider.ts'
import { neutralizePromptFlags } from './prompt-flags.ts'

type Role = 'first_frame' | 'reference_image'

/**
 * Writes the submit body of P2's own API. Parameters are top-level fields, which the upstream checks. Flags inside the prompt,
 * which it does not check, are neutralized where the model obeys them. Audio is sent only to models that have the choice.
 */
export function p2RequestBody({ request, model, upstreamModelId }: SubmitCommand): object {
  const { image_urls: images, video_urls: videos, audio_urls: audios } = request
  // A single image is the first frame, and the picture follows it. Frames and references cannot be mixed.
  const isFirstFrame = images.length === 1 && videos.length === 0 && audios.length === 0
  const role: Role = isFirstFrame ? 'first_frame' : 'reference_image'
  return {
    model: upstreamModelId,
    content: [
      { type: 'text', text: p2Prompt({ request, model }) },
      ...images.map((url) => ({ type: 'image_url', image_url: { url }, role })),
      ...videos.map((url) => ({ type: 'video_url', video_url: { url }, role: 'reference_video' })),
      ...audios.map((url) => ({ type: 'audio_url', audio_url: { url }, role: 'reference_audio' })),
    ],
    resolution: request.resolution.toLowerCase(),
    ...(isFirstFrame ? {} : { ratio: request.aspect_ratio }),
    duration: request.duration,
    ...(model.audio.supported ? { generate_audio: request.generate_audio } : {}),
    watermark: request.watermark,
  }
}

/** Writes the flat submit body of the proxy route. Reference videos and audio force the direct route, so none arrive here. */
export function p2ProxyRequestBody({ request, model, upstreamModelId }: SubmitCommand): object {
  return {
    model: upstreamModelId,
    prompt: p2Prompt({ request, model }),
    duration: request.duration,
    resolution: request.resolution.toLowerCase(),
    aspect_ratio: request.aspect_ratio,
    ...(model.audio.supported ? { generate_audio: request.generate_audio } : {}),
    ...(request.image_urls.length > 0 ? { image_urls: request.image_urls } : {}),
    watermark: request.watermark,
  }
}

function p2Prompt({ request, model }: Pick<SubmitCommand, 'request' | 'model'>): string {
  return model.prompt_flags ? neutralizePromptFlags(request.prompt) : request.prompt
}
