import { describe, expect, it } from '@jest/globals'
import { changeOutputLimit } from '#core/catalogue/parameters.ts'

describe('changeOutputLimit', () => {
  const any = { wanted: undefined, fallback: undefined }
  const newer = { wanted: 'max_completion_tokens', fallback: 100 } as const

  it('keeps the client’s fields where the channel needs none in particular', () => {
    expect(changeOutputLimit({ max_tokens: 5, max_completion_tokens: 9 }, any)).toStrictEqual({})
    expect(changeOutputLimit({}, any)).toStrictEqual({})
  })

  it('keeps a limit that is in the right field', () => {
    expect(changeOutputLimit({ max_completion_tokens: 5 }, newer)).toStrictEqual({})
  })

  it('moves a limit to the field of the channel', () => {
    expect(changeOutputLimit({ max_tokens: 5 }, newer)).toStrictEqual({
      write: { name: 'max_completion_tokens', tokens: 5 },
      leaveOut: 'max_tokens',
    })
  })

  it('sends the smaller of two limits', () => {
    expect(changeOutputLimit({ max_tokens: 9, max_completion_tokens: 5 }, newer)).toStrictEqual({
      leaveOut: 'max_tokens',
    })
    expect(changeOutputLimit({ max_tokens: 5, max_completion_tokens: 9 }, newer)).toMatchObject({
      write: { tokens: 5 },
    })
  })

  it('writes the fallback where the client sets no limit, in max_tokens unless the channel needs the other', () => {
    expect(changeOutputLimit({ max_tokens: null }, { wanted: undefined, fallback: 100 })).toStrictEqual({
      write: { name: 'max_tokens', tokens: 100 },
    })
    expect(changeOutputLimit({}, newer)).toStrictEqual({ write: { name: 'max_completion_tokens', tokens: 100 } })
  })
})
