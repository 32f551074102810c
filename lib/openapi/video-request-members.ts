import { PROMPT_UNITS_MAX } from '#core/parameters/prompt-length.ts'
import type { DescribedMembers } from './json-schema.ts'

/** As far as a schema can say it; the rest of a link is checked by hand (core/contract/reference-url.ts). */
const LINK = { type: 'string', maxLength: 8192, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' }

const IMAGE = {
  anyOf: [
    LINK,
    { type: 'string', pattern: '^[Dd][Aa][Tt][Aa]:[Ii][Mm][Aa][Gg][Ee]/[A-Za-z0-9.+-]+;[Bb][Aa][Ss][Ee]64,' },
  ],
}

const NO_IMAGE = { type: 'string', maxLength: 0 }

/** What the validator of `POST /v1/video/generations` accepts beyond what its zod schema tells. */
export const VIDEO_JOB_MEMBERS: DescribedMembers = {
  model: { description: 'Id of a video model that the key may use.', examples: ['famB-1.1-t2v'] },
  prompt: {
    description: `Not blank. At most ${PROMPT_UNITS_MAX} units, of which a Chinese, Japanese or Korean character is 2 and any other character 1.`,
    minLength: 1,
    maxLength: PROMPT_UNITS_MAX,
    pattern: '\\S',
  },
  duration: { description: 'Seconds, within the range of the model; where the output follows an input video, a wish.' },
  resolution: {
    description:
      '`480P`, `720P` or `1080P` in any case, as far as the model has it; left out, the default of the model.',
    pattern: '^(480|720|1080)[Pp]$',
    examples: ['720P'],
  },
  aspect_ratio: { description: 'A wish, which not every upstream takes.' },
  generate_audio: { description: 'Sent where the upstream has the choice; left out, the default of the model.' },
  watermark: { description: 'Whether the upstream may put its mark on the video.' },
  fps: { description: 'Frames per second. Accepted; no upstream takes it.' },
  image_urls: {
    description:
      'Images, as links or as `data:image/...;base64,...`; how many, the model says. One alone is the first frame.',
    items: IMAGE,
  },
  image_url: {
    description:
      'Older name for one image: counts as `image_urls[0]` where `image_urls` is empty. An empty text is none.',
    anyOf: [...IMAGE.anyOf, NO_IMAGE],
    type: undefined,
  },
  video_urls: { description: 'Videos, as links; how many, the model says.', items: LINK },
  audio_urls: { description: 'Audio files, as links; with an image or a video beside them.', items: LINK },
  callback_url: {
    description: 'Where the result is posted once: https, a host on the allowlist of the operator.',
    maxLength: 2048,
    format: 'uri',
  },
}
