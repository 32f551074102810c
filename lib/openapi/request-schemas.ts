import { PROMPT_UNITS_MAX, videoJobBodySchema } from '#core/api/video-job-request.ts'
import { type DescribedFields, type JsonSchema, type RequestDocument, toJsonSchemas } from './openapi-types.ts'
import { RELAY_REQUESTS } from './relay-operations.ts'

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

/** Parts of bodies, which are named schemas of the document. The bodies themselves are inline in their operations. */
const PARTS = ['ChatMessage', 'ChatTool'] as const

const REQUESTS: Readonly<Record<string, RequestDocument>> = {
  CreateVideoJobRequest: {
    schema: videoJobBodySchema,
    fields: VIDEO_JOB_FIELDS,
    description: 'Unknown fields are ignored.',
  },
  ...RELAY_REQUESTS,
}

/** The named parts of request bodies. @throws TypeError like `requestBodySchema`. */
export function requestPartSchemas(): Record<string, JsonSchema> {
  const schemas = requestSchemas()
  return Object.fromEntries(PARTS.map((name) => [name, schemas[name] ?? {}]))
}

/**
 * The schema of a request body, as its validator accepts it. It is inline in its operation, with its name as title: in a named
 * schema, client generators would require fields that have a default.
 * @throws TypeError for a field without a description, or a description without a field.
 */
export function requestBodySchema(name: string): JsonSchema {
  return { title: name, ...requestSchemas()[name] }
}

function requestSchemas(): Record<string, JsonSchema> {
  const named = Object.fromEntries(Object.entries(REQUESTS).map(([name, { schema }]) => [name, schema]))
  const schemas = toJsonSchemas(named, 'input')
  return Object.fromEntries(
    Object.entries(REQUESTS).map(([name, { description, fields, byHand = [] }]) => {
      const { properties, required, ...schema } = schemas[name] ?? {}
      const all = { ...Object(properties), ...Object.fromEntries(byHand.map((field) => [field, {}])) }
      const known = Array.isArray(required) ? required : []
      return [
        name,
        { description, ...schema, properties: describe(name, all, fields), required: [...known, ...byHand] },
      ]
    }),
  )
}

function describe(
  name: string,
  properties: Readonly<Record<string, JsonSchema>>,
  fields: DescribedFields,
): Record<string, JsonSchema> {
  const unknown = Object.keys(fields).filter((field) => properties[field] === undefined)
  if (unknown.length > 0) {
    throw new TypeError(`${name} has no ${unknown.join(', ')}`)
  }
  return Object.fromEntries(
    Object.entries(properties).map(([field, schema]) => {
      const { description, ...more } = fields[field] ?? {}
      if (description === undefined) {
        throw new TypeError(`${name}.${field} has no description`)
      }
      return [field, { description, ...schema, ...more }]
    }),
  )
}
