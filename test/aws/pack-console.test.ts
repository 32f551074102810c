import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filesBesideThePage, packConsole } from '#stack/function-code.ts'

const folder = mkdtempSync(join(tmpdir(), 'pack-console-'))

beforeAll(() => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  writeFileSync(join(folder, 'icon.svg'), '<svg/>')
  writeFileSync(join(folder, 'assets', 'index-1a2b.js'), 'export {}')
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('pack-console', () => {
  it('packs each file below the path of its url, hashed files for a year and the page uncached', () => {
    const files = JSON.parse(packConsole(folder))
    expect(files).toMatchObject([
      { key: 'console/assets/index-1a2b.js', cacheControl: 'public, max-age=31536000, immutable' },
      { key: 'console/icon.svg', contentType: 'image/svg+xml', cacheControl: 'no-store' },
      { key: 'console/index.html', contentType: 'text/html; charset=utf-8', cacheControl: 'no-store' },
    ])
    expect(Buffer.from(files[0].base64, 'base64').toString()).toBe('export {}')
  })

  it('names the files that stand beside the page', () => {
    expect(filesBesideThePage(folder)).toEqual(['/console/icon.svg'])
  })

  it('packs nothing without a build', () => {
    expect(packConsole(undefined)).toBe('[]')
    expect(filesBesideThePage(undefined)).toEqual([])
  })
})
