/** Choices of a first chunk in the shapes that upstreams write, of which none holds anything generated. */
export const ROLE_CHOICES = {
  'a role and an empty text':
    '[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]',
  'a refusal that is null':
    '[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}]',
  'results of a content filter':
    '[{"content_filter_results":{},"delta":{"content":"","refusal":null,"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}]',
  'an empty reasoning':
    '[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":""},"logprobs":null,"finish_reason":null}]',
  'annotations that are empty':
    '[{"index":0,"delta":{"role":"assistant","content":"","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":null}]',
} as const

/** One event with those choices. */
export function roleEvent(choices: string): string {
  return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"upstream-chat","choices":${choices}}\n\n`
}
