import { describe, expect, it } from 'vitest'
import { readHotkey } from '#web/core/hotkey.ts'

const press = (key: string, changes = {}, isAfterPrefix = false) =>
  readHotkey({ key, hasModifier: false, element: 'body', isEditable: false, ...changes }, isAfterPrefix)

describe('readHotkey', () => {
  it('knows the single letters', () => {
    expect(['/', 'j', 'k', 'o', '?', 'g', 'x'].map((key) => press(key)?.kind)).toEqual([
      'filter',
      'next',
      'previous',
      'open',
      'help',
      'prefix',
      undefined,
    ])
  })

  it('takes any letter after g as a page, and nothing else', () => {
    expect(press('k', {}, true)).toEqual({ kind: 'page', letter: 'k' })
    expect(press('Enter', {}, true)).toBeNull()
  })

  it.each(['input', 'textarea', 'select'])('leaves keys in a %s to it', (element) => {
    expect([press('/', { element }), press('g', { element }), press('k', { element }, true)]).toEqual([
      null,
      null,
      null,
    ])
  })

  it('opens the row that has the focus by Enter, and leaves Enter to links and buttons', () => {
    expect(press('Enter', { element: 'tr' })).toEqual({ kind: 'open' })
    expect(['a', 'button', 'body'].map((element) => press('Enter', { element }))).toEqual([null, null, null])
  })

  it('leaves keys with a modifier, and in editable content, alone', () => {
    expect([press('k', { hasModifier: true }), press('j', { isEditable: true })]).toEqual([null, null])
  })
})
