import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'
import { unpackChromium } from './chromium.ts'

const cache = mkdtempSync(join(tmpdir(), 'reelgate-chromium-'))
afterAll(() => rmSync(cache, { recursive: true, force: true }))

describe('unpackChromium', () => {
  it('gives every process that asks at once a whole browser, in one folder for its version', async () => {
    const [first, second] = await Promise.all([unpackChromium(cache), unpackChromium(cache)])
    expect(second).toEqual(first)
    const [folder = '', ...others] = readdirSync(cache)
    expect(folder).toMatch(/^chromium-\d+\.\d+\.\d+$/)
    expect(others).toEqual([])
    // The libraries of the package too: a machine may lack those of the system.
    const libraries = { LD_LIBRARY_PATH: join(cache, folder, 'al2023/lib') }
    for (const environment of [first.environment, libraries]) {
      expect(String(execFileSync(first.executablePath, ['--version'], { env: environment }))).toMatch(/^Chromium \d/)
    }
  })
})
