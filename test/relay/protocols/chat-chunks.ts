/** Data of the events of a chat stream, as an upstream writes them. */
export const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_776_678_917, model: 'up' }
export const chunk = (members: object) => JSON.stringify({ ...head, ...members })
export const piece = (content: string, index = 0) =>
  chunk({ choices: [{ index, delta: { content }, finish_reason: null }] })
export const finish = (index = 0, reason = 'stop') => chunk({ choices: [{ index, delta: {}, finish_reason: reason }] })
export const usage = (prompt_tokens: number, completion_tokens: number) =>
  chunk({ choices: [], usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens } })
export const DONE = '[DONE]'
