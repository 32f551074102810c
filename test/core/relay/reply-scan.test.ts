import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { fieldTree } from '#core/json/json-fields.ts'
import { formatCredits, microcredits } from '#core/money.ts'
import { applyEdits, costNumber, editsWithCost, ReplyScan, withoutHidden } from '#core/relay/reply-scan.ts'
import { ReplyPieces } from '#core/relay/whole-reply.ts'
import { rulesOf } from './reply-rules.ts'

const rules = { modelJson: '"public"', hidden: rulesOf('public').hidden }

/** What becomes of a reply. */
function relayed(json: string, cost?: number): string {
  const shown = cost === undefined ? undefined : microcredits(cost)
  return applyEdits(json, editsWithCost(new ReplyScan(rules).push(json).edits, shown))
}

const hidden = fieldTree(['x', 'a.x', 'a.b.x'])

describe('withoutHidden', () => {
  it.each([
    ['{"x":1}', '{}'],
    ['{"x":1,"b":2}', '{"b":2}'],
    ['{ "x" : 1 , "b":2 }', '{ "b":2 }'],
    ['{"b":2,"x":1}', '{"b":2}'],
    ['{"b":2 , "x":1 }', '{"b":2 }'],
    ['{"x":1,"b":2,"x":{"y":[1,"}"]},"c":3}', '{"b":2,"c":3}'],
    ['{"x":1,"x":2}', '{}'],
    ['{"a":{"x":1,"c":{"x":2}},"b":{"x":3}}', '{"a":{"c":{"x":2}},"b":{"x":3}}'],
    ['{"a":{"b":{"c":1,"x":2}}}', '{"a":{"b":{"c":1}}}'],
    ['{"a":[{"x":1}]}', '{"a":[{"x":1}]}'],
    ['{"\\u0078":1,"c":"x"}', '{"c":"x"}'],
    ['{"\\\\u0078":1}', '{"\\\\u0078":1}'],
    ['  {"x":1}', '  {}'],
    ['\ufeff{"x":1}', '\ufeff{}'],
    ['\xef\xbb\xbf\n{"x":1}', '\xef\xbb\xbf\n{}'],
    ['{"\\q":1,"x":1}', '{"\\q":1}'],
    ['{}', '{}'],
  ])('makes %s to %s', (json, left) => {
    expect(withoutHidden(json, hidden)).toBe(left)
  })

  it.each(['', 'x', '[{"x":1}]', '"x"', '<html>"x":1'])('leaves %s, which is no object', (text) => {
    expect(withoutHidden(text, hidden)).toBe(text)
  })

  it('removes the complete fields of an object that breaks off', () => {
    expect(withoutHidden('{"x":1,"b":2,"x":3', hidden)).not.toContain('"x":1')
  })

  it('takes linear time for many removed fields', () => {
    const count = 200_000
    const repeated = Array.from({ length: count }, () => '"x":1').join(',')
    const start = performance.now()
    expect(withoutHidden(`{${repeated},"a":{${repeated}}}`, hidden)).toBe('{"a":{}}')
    expect(performance.now() - start).toBeLessThan(30_000)
  })
})

describe('ReplyScan', () => {
  it('replaces every top-level model, and none that is nested or in a string', () => {
    const json = '{"model":"a","choices":[{"model":"x"}],"note":"\\"model\\":1","model": null }'
    expect(relayed(json)).toBe('{"model":"public","choices":[{"model":"x"}],"note":"\\"model\\":1","model": "public" }')
  })

  it('has the last value of a repeated name, byte for byte', () => {
    const scan = new ReplyScan({}).push('{"error":1,"usage":1,"usage":{ "total_tokens": 1.0 },"error":null}')
    expect([scan.usage, scan.hasError, scan.edits]).toEqual(['{ "total_tokens": 1.0 }', false, []])
  })

  it('takes a name with escapes for the same name', () => {
    expect(new ReplyScan({}).push('{"us\\u0061ge":7}').usage).toBe('7')
    expect(relayed('{"us\\u0061ge":{"c\\u006fst":9,"a":1},"pr\\u006fvider":"x"}')).toBe('{"us\\u0061ge":{"a":1}}')
  })

  it('removes what is hidden, wherever a name is repeated', () => {
    const json =
      '{"provider":"a", "id":1,"usage":{"cost":1},"usage":{"a":{"cost":2},"cost":3,"is_byok":true} ,"provider":{}}'
    expect(relayed(json)).toBe('{ "id":1,"usage":{},"usage":{"a":{}}}')
  })

  it('leaves nested fields of configured names', () => {
    const json = '{"choices":[{"usage":{"is_byok":1}}],"x":{"provider":1,"usage":{"is_byok":1}}}'
    expect(relayed(json)).toBe(json)
  })
})

describe('editsWithCost: the cost of a reply', () => {
  it.each([
    ['{"usage":{"total_tokens":3}}', '{"usage":{"total_tokens":3,"cost":0.005195}}'],
    ['{"usage":{ "total_tokens" : 3 }}', '{"usage":{ "total_tokens" : 3,"cost":0.005195 }}'],
    ['{"usage":{}}', '{"usage":{"cost":0.005195}}'],
    ['{"usage":{ }}', '{"usage":{"cost":0.005195 }}'],
    ['{"usage":{"cost":9}}', '{"usage":{"cost":0.005195}}'],
    ['{"usage":{"cost":9,"a":1}}', '{"usage":{"a":1,"cost":0.005195}}'],
    ['{"usage":{"a":1,"cost":9 , "cost_details":{"x":1}}}', '{"usage":{"a":1,"cost":0.005195}}'],
    ['{"usage":{"a":1},"usage":{"b":2}}', '{"usage":{"a":1,"cost":0.005195},"usage":{"b":2,"cost":0.005195}}'],
    ['{"usage":null}', '{"usage":null}'],
    ['{"usage":[{"a":1}]}', '{"usage":[{"a":1}]}'],
    ['{"a":1}', '{"a":1}'],
  ])('writes the cost into each usage that is an object: %s', (json, expected) => {
    expect(relayed(json, 5_195)).toBe(expected)
  })

  it.each([
    [1, '0.000001'],
    [21, '0.000021'],
    [1_000_000, '1'],
    [123_456_789_012_345, '123456789.012345'],
    [0, '0'],
  ])('writes %d millionths of a credit as %s', (amount, cost) => {
    expect(relayed('{"usage":{}}', amount)).toBe(`{"usage":{"cost":${cost}}}`)
  })

  it('has the exact digits of the amount, as a written number too', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 999_999_999_999_999n }).map(microcredits), (amount) => {
        const digits = formatCredits(amount)
        expect(relayed('{"usage":{}}', Number(amount))).toBe(`{"usage":{"cost":${digits}}}`)
        expect(JSON.stringify({ cost: costNumber(amount) })).toBe(`{"cost":${digits}}`)
      }),
    )
  })
})

describe('ReplyScan: a reply that gets a model', () => {
  it.each([
    ['{"data":[] }', '{"data":[],"model":"public" }'],
    ['{"data":[],"provider":1}', '{"data":[],"model":"public"}'],
    ['{"model":"up"}', '{"model":"public"}'],
    ['{ }', '{"model":"public" }'],
  ])('has it after the last field that stays: %s', (json, expected) => {
    const scan = new ReplyScan({ ...rules, addsModel: true }).push(json)
    expect(applyEdits(json, scan.edits)).toBe(expected)
  })
})

describe('ReplyPieces', () => {
  function piecesOf(text: string, size: number): ReplyPieces {
    const pieces = new ReplyPieces()
    for (let at = 0; at < text.length; at += size) {
      pieces.add(Buffer.from(text.slice(at, at + size)))
    }
    return pieces
  }

  const text = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString()

  it('applies edits as to a text, wherever its chunks begin', () => {
    const edit = fc.tuple(fc.nat(4), fc.nat(4), fc.constantFrom('', 'x', 'long'))
    fc.assert(
      fc.property(fc.array(edit), fc.integer({ min: 1, max: 7 }), (steps, size) => {
        let at = 0
        const edits = steps.map(([gap, length, replacement]) => {
          const start = at + gap
          at = start + length
          return { start, end: at, replacement }
        })
        const whole = '0123456789'.repeat(Math.ceil((at + 1) / 10))
        expect(text(piecesOf(whole, size).edited(0, whole.length, edits))).toBe(applyEdits(whole, edits))
      }),
    )
  })

  it('has the bytes of one span, also after earlier ones are forgotten', () => {
    const pieces = piecesOf('0123456789', 3)
    pieces.forget(5)
    expect(text(pieces.edited(5, 8, [{ start: 6, end: 7, replacement: '+' }]))).toBe('5+7')
    expect(pieces.length).toBe(10)
  })

  it('copies no byte that stays', () => {
    const chunk = Buffer.from('0123456789')
    const pieces = new ReplyPieces()
    pieces.add(chunk)
    const [before, , after] = pieces.edited(0, 10, [{ start: 2, end: 3, replacement: 'x' }])
    expect([before?.buffer, after?.buffer]).toEqual([chunk.buffer, chunk.buffer])
    expect(pieces.edited(4, 4, [])).toEqual([])
  })
})
