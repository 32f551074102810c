import { parseJsonText } from '../json/parse-json-text.ts'
import type { SseEvent } from './sse-events.ts'

/**
 * Whether a chat stream ended, without a blank line, inside an event: the rest is neither `[DONE]` nor complete JSON.
 */
export function isHalfEvent({ raw, data }: Pick<SseEvent, 'raw' | 'data'>): boolean {
  if (data === undefined) {
    return /[^\r\n]/.test(raw)
  }
  return data.trim() !== '[DONE]' && !isJson(data)
}

function isJson(text: string): boolean {
  try {
    parseJsonText(text)
    return true
  } catch {
    return false
  }
}
