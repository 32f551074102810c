import { describe, expect, it } from 'vitest'
import { microcredits } from '#core/money.ts'
import { readValue, walkReply } from '#core/relay/json-bytes.ts'
import { applyEdits } from '#core/relay/reply-pieces.ts'
import { TopLevelEdits } from '#core/relay/top-level-edits.ts'
import { rulesOf } from './reply-rules.ts'

function edit(text: string, { cost, needsModel = false }: { cost?: number; needsModel?: boolean } = {}): string {
  const bytes = Buffer.from(text)
  const edits = new TopLevelEdits(bytes, rulesOf('public'))
  walkReply(bytes, (name, start) => {
    const { end } = readValue(bytes, start)
    edits.field(name, start, end)
    return end
  })
  if (needsModel) {
    edits.addMissingModel()
  }
  const { pieces } = applyEdits(bytes, edits.edits(cost === undefined ? undefined : microcredits(cost)))
  return Buffer.concat(pieces).toString()
}

describe('TopLevelEdits', () => {
  it('replaces each model, removes what is hidden, and adds the cost', () => {
    const text =
      '{"provider":"ü", "model":"up","data":[{"provider":1}],"model":null,"usage":{"cost":1,"total_tokens":2 },"provider":1}'
    expect(edit(text, { cost: 21 })).toBe(
      '{ "model":"public","data":[{"provider":1}],"model":"public","usage":{"total_tokens":2,"cost":0.000021 }}',
    )
  })

  it('adds a missing model after the last field, also where the last one was removed', () => {
    expect(edit('{"data":[] }', { needsModel: true })).toBe('{"data":[],"model":"public" }')
    expect(edit('{"data":[],"provider":1}', { needsModel: true })).toBe('{"data":[],"model":"public"}')
    expect(edit('{"model":"up"}', { needsModel: true })).toBe('{"model":"public"}')
  })

  it.each(['{"usage":null}', '{"usage":[1]}', '{"data":1}'])('adds no cost to %s', (text) => {
    expect(edit(text, { cost: 21 })).toBe(text)
  })
})
