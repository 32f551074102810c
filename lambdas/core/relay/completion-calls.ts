import type { CompletionRequest } from '../contract/completion-request.ts'
import { topLevelMembers } from '../json-members.ts'

/**
 * Members that this gateway answers for: written anew for each chat call, or without a meaning in chat. A client's own
 * `messages` never come in place of its prompt.
 */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'prompt',
  'n',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'echo',
  'suffix',
  'logprobs',
  'best_of',
])

/** One chat call: the prompt it is for, and how many completions of it. */
type CompletionCall = { readonly promptIndex: number; readonly n: number }

/** Writes the body of a chat call, as JSON text. `model` is the id that the upstream knows. */
export type WriteCompletionCall = (call: CompletionCall & { readonly model: string }) => string

/**
 * Prepares the chat calls of a legacy completion: each prompt is the one message of a user. Every other member of the
 * request keeps its bytes, so that a seed of 64 bits stays whole. An upstream's stream is always asked for its usage,
 * because it is billed.
 * @param bodyText the request as it came: one valid JSON object.
 */
export function prepareCompletionCalls(bodyText: string, request: CompletionRequest): WriteCompletionCall {
  const common = [
    [request.maxTokensMember, String(request.maxTokens)],
    ...relayedMembers(bodyText),
    ...(request.stream ? STREAM_MEMBERS : []),
  ].map(([name, json]) => `,${JSON.stringify(name)}:${json}`)
  const rest = common.join('')
  return ({ promptIndex, n, model }) => {
    const content = request.prompts[promptIndex] ?? ''
    const members = { model, messages: [{ role: 'user', content }], ...(n === 1 ? {} : { n }) }
    return `${JSON.stringify(members).slice(0, -1)}${rest}}`
  }
}

const STREAM_MEMBERS = [
  ['stream', 'true'],
  ['stream_options', '{"include_usage":true}'],
] as const

/** Of a repeated name the last counts, as with any parser. */
function relayedMembers(bodyText: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  for (const { name, valueStart, valueEnd } of topLevelMembers(bodyText)) {
    if (!OWN_MEMBERS.has(name)) {
      members.set(name, bodyText.slice(valueStart, valueEnd))
    }
  }
  return members
}
