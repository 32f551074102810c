import { describe, expect, it } from 'vitest'
import { fieldsIgnoredBySome } from '#core/contract/fields-ignored-by-some.ts'

const channel = (chat: string[], embeddings: string[] = []) => ({ pass_members: { chat, embeddings, images: [] } })
const BODY = '{"model":"m","top_k":1,"min_p":2,"durration":3}'

describe('fieldsIgnoredBySome', () => {
  it('has each field that at least one channel would leave out, once', () => {
    const channels = [channel(['top_k']), channel(['top_k', 'min_p'])]
    expect(fieldsIgnoredBySome(BODY, 'chat', channels)).toStrictEqual(['min_p', 'durration'])
  })

  it.each([
    ['chat', ['min_p', 'durration']],
    ['completions', ['min_p', 'durration']],
    ['embeddings', ['top_k', 'durration']],
    ['images', ['top_k', 'min_p', 'durration']],
  ] as const)('reads what a channel adds to %s', (list, names) => {
    expect(fieldsIgnoredBySome(BODY, list, [channel(['top_k'], ['min_p'])])).toStrictEqual(names)
  })

  it('has the fields that are not on the list where no channel serves the model', () => {
    expect(fieldsIgnoredBySome(BODY, 'chat', [])).toStrictEqual(['top_k', 'min_p', 'durration'])
  })

  it('has inner fields by their paths', () => {
    const body = '{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}}]}]}'
    expect(fieldsIgnoredBySome(body, 'chat', [])).toStrictEqual(['messages.content.cache_control'])
    expect(fieldsIgnoredBySome(body, 'chat', [channel(['messages.content.cache_control'])])).toStrictEqual([])
  })
})
