import * as z from 'zod'

/** A model (interface, "Model"). */
export const modelResponse = z.looseObject({
  id: z.string().describe('The value for `model` of a request.'),
  object: z.literal('model'),
  created: z.int().describe('Unix seconds.'),
  owned_by: z.string(),
})

/** The list of models (interface, "Model"). */
export const modelListResponse = z.looseObject({
  object: z.literal('list'),
  data: z.array(modelResponse).describe('Every model of every kind that the key may use.'),
})
