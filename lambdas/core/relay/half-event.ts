import type { SseEvent } from './sse-events.ts'

/**
 * Whether what a chat stream ended with, no blank line behind it, is a piece of an event: neither `[DONE]` nor JSON that is
 * complete. Comments are no event, so half of one is none either.
 */
export function isHalfEvent({ raw, data }: Pick<SseEvent, 'raw' | 'data'>): boolean {
  if (data === undefined) {
    return raw.split(/[\r\n]/).some((line) => line !== '' && !line.startsWith(':'))
  }
  return data.trim() !== '[DONE]' && !isJson(data)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
