import * as z from 'zod'
import { p2ModelLine } from '../p2/p2-model-line.ts'
import { type P2Submit, validateP2Submit } from '../p2/p2-validation.ts'

/** The proxy's flat body; unknown fields are refused. */
const proxyBodySchema = z.strictObject({
  model: z.string().min(1),
  prompt: z.string().min(1),
  duration: z.int().optional(),
  resolution: z.string().optional(),
  aspect_ratio: z.string().optional(),
  generate_audio: z.boolean().optional(),
  image_urls: z.array(z.string()).optional(),
  watermark: z.boolean().optional(),
  seed: z.int().optional(),
})

/** Translates the flat body into P2's and validates the result. */
export function validateProxySubmit(value: unknown): P2Submit {
  const parsed = proxyBodySchema.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    const unknownMember = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
    const param = [...(issue?.path ?? []), ...unknownMember].join('.')
    return { kind: 'invalid', param, reason: issue?.message ?? 'bad body' }
  }
  const { model, prompt, image_urls: imageUrls = [], aspect_ratio: ratio, generate_audio: audio, ...rest } = parsed.data
  const role = imageUrls.length === 1 ? 'first_frame' : 'reference_image'
  const images = imageUrls.map((url) => ({ type: 'image_url', image_url: { url }, role }))
  // The proxy requests sound only from models with sound.
  const hasSound = p2ModelLine(model)?.generation === 2
  return validateP2Submit({
    model,
    content: [{ type: 'text', text: prompt }, ...images],
    ...rest,
    ...(ratio !== undefined && { ratio }),
    ...(hasSound && audio !== undefined && { generate_audio: audio }),
  })
}
