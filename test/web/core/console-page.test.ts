import { describe, expect, it } from 'vitest'
import { CONSOLE_PAGES, pageNameOf, pagePath, pagesOf, reaches } from '#web/core/console-page.ts'

describe('console-page', () => {
  it('shows an API key the pages of its tenant alone', () => {
    const titles = pagesOf('tenant').map(({ title }) => title)
    expect(titles).toEqual(['Overview', 'Usage', 'Videos', 'Ledger', 'Playground', 'Webhooks', 'Sessions'])
  })

  it('shows viewers what owners see', () => {
    expect(pagesOf('viewer')).toEqual(pagesOf('owner'))
    expect(pagesOf('owner')).toEqual(CONSOLE_PAGES)
  })

  it('orders the roles', () => {
    expect([reaches('owner', 'viewer'), reaches('viewer', 'owner'), reaches('tenant', 'tenant')]).toEqual([
      true,
      false,
      true,
    ])
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
