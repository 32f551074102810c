import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyEdits, ReplyPieces } from '#core/relay/reply-scan.ts'

function piecesOf(text: string, size: number): ReplyPieces {
  const pieces = new ReplyPieces()
  for (let at = 0; at < text.length; at += size) {
    pieces.add(Buffer.from(text.slice(at, at + size)))
  }
  return pieces
}

const text = (pieces: readonly Uint8Array[]) => Buffer.concat(pieces).toString()

it('ReplyPieces applies edits as to a text, wherever its chunks begin', () => {
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

it('ReplyPieces has the bytes of one span, also after earlier ones are forgotten', () => {
  const pieces = piecesOf('0123456789', 3)
  pieces.forget(5)
  expect(text(pieces.edited(5, 8, [{ start: 6, end: 7, replacement: '+' }]))).toBe('5+7')
  expect(pieces.length).toBe(10)
})

it('ReplyPieces copies no byte that stays', () => {
  const chunk = Buffer.from('0123456789')
  const pieces = new ReplyPieces()
  pieces.add(chunk)
  const [before, , after] = pieces.edited(0, 10, [{ start: 2, end: 3, replacement: 'x' }])
  expect([before?.buffer, after?.buffer]).toEqual([chunk.buffer, chunk.buffer])
  expect(pieces.edited(4, 4, [])).toEqual([])
})
