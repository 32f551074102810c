import { endpointsOfKind } from '#core/api/paths.ts'
import { CHAT } from '../engines/relay-rig.ts'

/** The chat model of the relay rig as clients see it. */
export const CHAT_VIEW = {
  id: CHAT,
  object: 'model',
  created: 1_767_225_600,
  owned_by: 'reelgate',
  kind: 'chat',
  context_window: 8192,
  max_output_tokens: 1000,
  input_modalities: ['text'],
  output_modalities: ['text'],
  vision: false,
  endpoints: endpointsOfKind('chat').map(({ path }) => path),
  pricing: {
    unit: 'credit',
    billing: 'token',
    prices: [{ input: '1000', output: '2000' }],
  },
}
