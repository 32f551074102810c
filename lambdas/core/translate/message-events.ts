import { isJsonObject, type JsonObject, objectsOf } from '../json/parse-json-text.ts'

/** One event of a message. */
export function messageEvent(type: string, fields: JsonObject = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}

/** A whole message as the events of a stream. */
export function messageEvents(message: JsonObject): string {
  const { stop_reason, stop_sequence = null, usage } = message
  const { cost: _, ...counts }: JsonObject = isJsonObject(usage) ? usage : {}
  const begun = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...counts, output_tokens: 0 },
  }
  const blocks = objectsOf(message.content)
  return [
    messageEvent('message_start', { message: begun }),
    ...blocks.map(blockEvents),
    messageEvent('message_delta', { delta: { stop_reason, stop_sequence }, usage: isJsonObject(usage) ? usage : {} }),
    messageEvent('message_stop'),
  ].join('')
}

function blockEvents(block: JsonObject, index: number): string {
  const { empty, deltas } = partsOf(block)
  return [
    messageEvent('content_block_start', { index, content_block: empty }),
    ...deltas.map((delta) => messageEvent('content_block_delta', { index, delta })),
    messageEvent('content_block_stop', { index }),
  ].join('')
}

/** A block as it begins, and what is added to it. A block of another type comes whole. */
function partsOf(block: JsonObject): { readonly empty: JsonObject; readonly deltas: readonly JsonObject[] } {
  switch (block.type) {
    case 'text':
      return { empty: { ...block, text: '' }, deltas: [{ type: 'text_delta', text: block.text }] }
    case 'thinking':
      return {
        empty: { ...block, thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block.thinking },
          { type: 'signature_delta', signature: block.signature ?? '' },
        ],
      }
    case 'tool_use':
      return {
        empty: { ...block, input: {} },
        deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input ?? {}) }],
      }
    default:
      return { empty: block, deltas: [] }
  }
}
