import * as z from 'zod'

/** A model (interface, "Model"). Documents the answer; nothing at run time parses it. */
export const modelAnswer = z.looseObject({
  id: z.string().describe('What `model` of a request says.'),
  object: z.literal('model'),
  created: z.int().describe('Unix seconds.'),
  owned_by: z.string(),
})

/** The list of models (interface, "Model"). Documents the answer; nothing at run time parses it. */
export const modelListAnswer = z.looseObject({
  object: z.literal('list'),
  data: z.array(modelAnswer).describe('Every model that the key may use, of every kind.'),
})
