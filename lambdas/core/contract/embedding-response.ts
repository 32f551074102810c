import * as z from 'zod'
import { costResponse } from './chat-response.ts'

/** Vectors. */
export const embeddingResponse = z
  .looseObject({
    object: z.literal('list'),
    data: z
      .array(
        z.looseObject({
          object: z.literal('embedding'),
          index: z.int().describe('Position of the input.'),
          embedding: z
            .union([z.array(z.number()), z.string()])
            .describe('Numbers, or packed little-endian float32 in base64 with `encoding_format` `base64`.'),
        }),
      )
      .describe('One entry per input, in the order of the inputs.'),
    model: z.string().describe('Public id of the model.'),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int(), cost: costResponse }).optional(),
  })
  .describe(
    'The response of the upstream, byte for byte except for `model`, `usage.cost`, what upstreams say of their price and name, and fields that the operator hides.',
  )
