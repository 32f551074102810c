import { PROMPT_UNITS_MAX } from '#core/api/video-job-request.ts'
import type { DescribedFields } from './json-schema.ts'

/** What a schema can express; core/parameters checks the rest. */
const LINK = { type: 'string', maxLength: 8192, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }

const IMAGE = {
  anyOf: [
    LINK,
    { type: 'string', pattern: '^[Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[A-Za-z0-9.+-]+;[Bb][Aa][Ss][Ee]64,' },
  ],
}

const NO_IMAGE = { type: 'string', maxLength: 0 }

/** Describes the fields of `POST /v1/video/generations`, and the checks that its zod schema does not express. */
export const VIDEO_JOB_FIELDS: DescribedFields = {
  model: { description: 'Id of a video model that the key may use.', examples: ['famB-1.1-t2v'] },
  prompt: {
    description: `Not blank. At most ${PROMPT_UNITS_MAX} units: a Chinese, Japanese or Korean character counts as 2, any other as 1.`,
    minLength: 1,
    maxLength: PROMPT_UNITS_MAX,
    pattern: '\\S',
  },
  duration: {
    description: 'Seconds, within the range of the model. Only a wish for an edit, which follows its input.',
  },
  resolution: {
    description: '`480P`, `720P` or `1080P`, in upper or lower case, if the model supports it. Default: the model’s.',
    pattern: '^(480|720|1080)[Pp]$',
    examples: ['720P'],
  },
  aspect_ratio: { description: 'A wish that some upstreams ignore.' },
  generate_audio: { description: 'Sent if the upstream has the choice. Default: the model’s.' },
  watermark: { description: 'Whether the upstream may put its watermark on the video.' },
  fps: { description: 'Frames per second. Accepted, but no upstream uses it.' },
  image_urls: {
    description:
      'Images, as urls or as `data:image/...;base64,...`. The model limits their number. A single image is the first frame.',
    items: IMAGE,
  },
  image_url: {
    description:
      'Older name for one image: counts as `image_urls[0]` if `image_urls` is empty. An empty string counts as none.',
    anyOf: [...IMAGE.anyOf, NO_IMAGE],
    type: undefined,
  },
  video_urls: { description: 'Videos, as urls. The model limits their number.', items: LINK },
  audio_urls: { description: 'Audio files, as urls, together with an image or a video.', items: LINK },
  callback_url: {
    description: 'The result is posted here once. An https url with a host on the operator’s allowlist.',
    maxLength: 2048,
    format: 'uri',
  },
}
