import { describe, expect, it } from 'vitest'
import { applyEdits, editedPieces } from '#core/relay/reply-pieces.ts'

const BYTES = Buffer.from('0123456789')
const edit = (start: number, end: number, text: string) => ({ start, end, replacement: [Buffer.from(text)] })

describe('applyEdits', () => {
  it('replaces, inserts and removes, whatever the order of the edits', () => {
    const edits = [edit(8, 10, 'end'), edit(0, 2, ''), edit(5, 5, '+')]
    const { pieces, byteLength } = applyEdits(BYTES, edits)
    expect(Buffer.concat(pieces).toString()).toBe('234+567end')
    expect(byteLength).toBe('234+567end'.length)
  })

  it('copies no byte that stays', () => {
    const { pieces } = applyEdits(BYTES, [edit(2, 3, 'x')])
    expect([pieces[0]?.buffer, pieces[2]?.buffer]).toEqual([BYTES.buffer, BYTES.buffer])
    expect(pieces[2]?.byteOffset).toBe(BYTES.byteOffset + 3)
  })

  it('has one piece without edits, and none for an empty reply', () => {
    expect(applyEdits(BYTES, []).pieces).toHaveLength(1)
    expect(applyEdits(Buffer.alloc(0), [])).toEqual({ pieces: [], byteLength: 0 })
  })
})

describe('editedPieces', () => {
  it('has the bytes of its span alone', () => {
    const pieces = editedPieces(BYTES, { start: 2, end: 6 }, [edit(3, 4, 'x')])
    expect(Buffer.concat(pieces).toString()).toBe('2x45')
  })
})
