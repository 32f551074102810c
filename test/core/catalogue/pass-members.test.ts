import { describe, expect, it } from 'vitest'
import { channelSchema } from '#core/catalogue/channel.ts'

const CHANNEL = { id: 'relay-1', provider: 'openai', base_url: 'https://upstream.example/v1', models: {} }

/** What is wrong with a channel's `pass_members`: where, and a sentence. */
function problems(passMembers: object): string[] {
  const { error } = channelSchema.safeParse({ ...CHANNEL, pass_members: passMembers })
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('pass_members of a channel', () => {
  it('adds nothing where it is left out', () => {
    expect(channelSchema.parse(CHANNEL)).toMatchObject({ pass_members: { chat: [], embeddings: [], images: [] } })
  })

  it('takes what other vendors have besides, also inside of messages, and what the list leaves out', () => {
    const chat = ['top_k', 'enable_thinking', 'chat_template_kwargs', 'service_tier', 'messages.reasoning_content']
    const inner = ['messages.content.cache_control', 'messages.content.image_url.max_pixels', 'tools.cache_control']
    expect(problems({ chat: [...chat, ...inner], embeddings: ['task'], images: ['complexity'] })).toStrictEqual([])
  })

  it.each([
    ['chat', 'Model', 'model'],
    ['chat', 'MAX_TOKENS', 'max_tokens'],
    ['chat', 'maxTokens', 'max_tokens'],
    ['chat', 'max-completion-tokens', 'max_completion_tokens'],
    ['chat', 'N', 'n'],
    ['chat', 'streamOptions', 'stream_options'],
    ['chat', 'stream_options.includeUsage', 'include_usage'],
    ['chat', 'messages.Content', 'content'],
    ['chat', 'messages.content.imageUrl', 'image_url'],
    ['chat', 'messages.tool_calls.function.Arguments', 'arguments'],
    ['embeddings', 'Input', 'input'],
    ['images', 'Size', 'size'],
    ['images', 'QUALITY', 'quality'],
  ])('of %s refuses %s, which a loose upstream takes for %s', (api, path, known) => {
    expect(problems({ [api]: [path] })).toStrictEqual([
      `pass_members.${api}.0: an upstream that ignores case and underscores reads ${path} as ${known}, which already passes; leave it out`,
    ])
  })

  it.each([
    ['chat', 'models'],
    ['chat', 'Fallbacks'],
    ['chat', 'bestOf'],
    ['chat', 'max_output_tokens'],
    ['embeddings', 'models'],
    ['images', 'route'],
  ])('of %s refuses %s, which would change what is billed', (api, path) => {
    expect(problems({ [api]: [path] })).toStrictEqual([
      `pass_members.${api}.0: ${path} would let a client change the model or the amount that is billed; leave it out`,
    ])
  })

  it.each([
    [['model'], '0: model already passes; leave it out'],
    [['messages.role'], '0: messages.role already passes; leave it out'],
    [
      ['top_k', 'topK'],
      '1: topK and top_k are the same name to an upstream that ignores case and underscores; leave one out',
    ],
    [['metadata.x'], '0: metadata already passes with all of its fields; leave this out'],
    [
      ['tools.function.parameters.x'],
      '0: tools.function.parameters already passes with all of its fields; leave this out',
    ],
    [
      ['thinking.type'],
      '0: thinking is no listed object; write thinking alone, or one of stream_options, messages, tools, tool_choice, functions, function_call before the dot',
    ],
    [
      ['a b'],
      '0: use names of letters, digits, underscores and hyphens, separated by dots, such as messages.content.cache_control',
    ],
  ])('refuses %j with a sentence', (chat, problem) => {
    expect(problems({ chat })).toStrictEqual([`pass_members.chat.${problem}`])
  })

  it.each(['ſeed', '\u212aey', 'a..b', '.a', 'a.', ''])('refuses %j, which is no name', (path) => {
    expect(problems({ chat: [path] })[0]).toContain('use names of letters')
  })

  it('refuses a route that it does not know', () => {
    expect(problems({ completions: ['top_k'] })).toStrictEqual([
      'pass_members: unknown key "completions"; allowed: chat, embeddings, images',
    ])
  })
})
