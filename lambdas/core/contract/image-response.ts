import * as z from 'zod'

/** Images (interface, "Image response"). Documents the answer; nothing at run time parses it. */
export const imageAnswer = z
  .looseObject({
    created: z.int().describe('Unix seconds.'),
    data: z.array(
      z
        .looseObject({
          url: z.string().optional().describe('Of the upstream, and ends when it says.'),
          b64_json: z.string().optional().describe('The image itself, with `response_format` `b64_json`.'),
          revised_prompt: z.string().optional().describe('What was drawn, of image-v3.'),
        })
        .describe('Holds `url` or `b64_json`.'),
    ),
  })
  .describe('The answer of the upstream, byte for byte.')
