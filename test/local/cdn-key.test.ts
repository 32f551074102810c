import { mkdtempSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { openCdnKey } from '#local/cdn-front.ts'

const directory = mkdtempSync(join(tmpdir(), 'reelgate-cdn-key-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const told: string[] = []
vi.spyOn(console, 'error').mockImplementation((text) => void told.push(String(text)))

describe('cdn-key: openCdnKey', () => {
  it('returns the same key after a restart, from a file for its owner only', async () => {
    const file = join(directory, 'cdn-key.pem')
    expect(await openCdnKey(file)).toEqual(await openCdnKey(file))
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('makes a new key when its file is empty or cut, and reports the file without its content', async () => {
    const file = join(directory, 'cdn-key.pem')
    for (const length of [0, 300]) {
      truncateSync(file, length)
      expect((await openCdnKey(file)).publicKeyPem).toContain('BEGIN PUBLIC KEY')
    }
    expect(told).toHaveLength(2)
    expect(told[0]).toBe(
      `${file} holds no key: it is made anew, and urls of videos that were signed before are refused`,
    )
  })
})
