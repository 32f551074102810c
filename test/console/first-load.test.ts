import { describe, expect, it } from 'vitest'
import { type ConsoleFile, firstLoad } from '../../lib/console/console-files.ts'

const file = (content: string): ConsoleFile => ({ bytes: Buffer.from(content), contentType: 'text/javascript' })

describe('firstLoad', () => {
  it('weighs the page, what it names, the overview, and what they import at once', () => {
    const files = new Map([
      [
        'index.html',
        file('<script src="/console/assets/index-1.js"></script><link href="/console/assets/index-2.css">'),
      ],
      ['assets/index-1.js', file('import{a}from"./shared-3.js";const page=()=>import("./usage-page-4.js")')],
      ['assets/index-2.css', file('a{}')],
      ['assets/shared-3.js', file('export const a=1')],
      ['assets/usage-page-4.js', file('import"./chart-5.js"')],
      ['assets/chart-5.js', file('x')],
      ['assets/overview-page-6.js', file('import{b}from"./stat-7.js"')],
      ['assets/stat-7.js', file('export const b=1')],
    ])
    expect(
      firstLoad(files)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([
      'assets/index-1.js',
      'assets/index-2.css',
      'assets/overview-page-6.js',
      'assets/shared-3.js',
      'assets/stat-7.js',
      'index.html',
    ])
  })

  it('counts bytes of gzip', () => {
    const [page] = firstLoad(new Map([['index.html', file('a'.repeat(10_000))]]))
    expect(page?.bytes).toBeLessThan(100)
  })
})
