import * as z from 'zod'

/** Vectors (interface, "Embedding response"). Documents the answer; nothing at run time parses it. */
export const embeddingAnswer = z
  .looseObject({
    object: z.literal('list'),
    data: z
      .array(
        z.looseObject({
          object: z.literal('embedding'),
          index: z.int().describe('Position of the input.'),
          embedding: z
            .union([z.array(z.number()), z.string()])
            .describe('Numbers, or with `encoding_format` `base64` packed little-endian float32.'),
        }),
      )
      .describe('One entry for each input, in the order of the inputs.'),
    model: z.string().describe('Public id of the model.'),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int() }).optional(),
  })
  .describe('The answer of the upstream, byte for byte but for the value of `model`.')
