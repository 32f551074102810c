import { describe, expect, it } from '@jest/globals'
import { SERVED_ROLES } from '#core/roles.ts'
import { CONSOLE_PAGES, mayDo, pageNameOf, pagePath, pagesOf, ROLES_BY_ACCESS } from '#web/core/console-page.ts'
import { ledgerUrl, tenantUrl, videoUrl } from '#web/core/console-url.ts'
import { fillPath } from '#web/core/fill-path.ts'
import { readHotkey } from '#web/core/hotkey.ts'

describe('console-page', () => {
  it('shows an API key the pages of its tenant alone', () => {
    const titles = pagesOf('tenant').map(({ title }) => title)
    expect(titles).toEqual(['Overview', 'Usage', 'Videos', 'Requests', 'Ledger', 'Playground', 'Webhooks', 'Sessions'])
  })

  it('shows viewers what owners see', () => {
    expect(pagesOf('viewer')).toEqual(pagesOf('owner'))
    expect(pagesOf('owner')).toEqual(CONSOLE_PAGES)
  })

  it('shows finance the pages of money, and roles of a tenant what they may see', () => {
    const titles = (role: Parameters<typeof pagesOf>[0]) => pagesOf(role).map(({ title }) => title)
    expect(titles('finance')).toEqual(['Overview', 'Usage', 'Ledger', 'Tenants', 'Sessions'])
    expect(titles('tenant-admin')).toEqual([...titles('tenant').slice(0, -1), 'Keys', 'Sessions'])
    expect(titles('tenant-viewer')).toEqual(titles('tenant-admin'))
  })

  it('gives roles what the gateway gives them', () => {
    expect(ROLES_BY_ACCESS).toEqual(SERVED_ROLES)
    expect([mayDo('owner', 'playground'), mayDo('viewer', 'playground')]).toEqual([true, false])
  })

  it('gives each page a letter and a path of its own', () => {
    expect(new Set(CONSOLE_PAGES.map(({ letter }) => letter)).size).toBe(CONSOLE_PAGES.length)
    expect(new Set(CONSOLE_PAGES.map(({ name }) => pagePath(name))).size).toBe(CONSOLE_PAGES.length)
  })

  it.each([
    ['/console', 'overview'],
    ['/console/videos/a-job', 'videos'],
    ['/console/keys', 'keys'],
    ['/console/keyscape', undefined],
    ['/console/nothing', undefined],
  ])('%s belongs to %s', (path, name) => {
    expect(pageNameOf(path)).toBe(name)
  })
})

describe('urls of pages', () => {
  it('hold any id, and no tenant where the session has one', () => {
    expect(videoUrl('a/b', 'x&y=z')).toBe('/console/videos/a%2Fb?tenant=x%26y%3Dz')
    expect(videoUrl('a')).toBe('/console/videos/a')
    expect(tenantUrl('../audit')).toBe('/console/tenants/..%2Faudit')
    expect(ledgerUrl('a b', 't')).toBe('/console/ledger?tenant=t&id=a+b')
  })
})

describe('fillPath', () => {
  it('encodes each id, so that none leads to another path', () => {
    expect(fillPath('/models/{model}/switches', { model: 'a/../b?c' })).toBe('/models/a%2F..%2Fb%3Fc/switches')
  })

  it('fails for an id that is missing or empty, which would name the list', () => {
    expect(() => fillPath('/videos/{job_id}', {})).toThrow('needs job_id')
    expect(() => fillPath('/videos/{job_id}', { job_id: '' })).toThrow('needs job_id')
  })
})

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
