import * as z from 'zod'

/** Images. */
export const imageResponse = z
  .looseObject({
    created: z.int().describe('Unix seconds.'),
    data: z.array(
      z
        .looseObject({
          url: z.string().optional().describe('Url of the upstream, which decides when it expires.'),
          b64_json: z.string().optional().describe('The image itself, with `response_format` `b64_json`.'),
          revised_prompt: z.string().optional().describe('The prompt that image-v3 used.'),
        })
        .describe('Holds `url` or `b64_json`.'),
    ),
  })
  .describe(
    'The response of the upstream, byte for byte except for the cost in a `usage`, what upstreams say of their price and name, and fields that the operator hides.',
  )
