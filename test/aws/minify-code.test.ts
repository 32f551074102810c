import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { minifyCode } from '#aws/minify-code.ts'

const CODE = 'const unused = 1; export const add = (first, second) => { return first + second }'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reelgate-minified-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

describe('minifyCode', () => {
  it('drops unused code and renames locals', () => {
    const { code } = minifyCode(CODE, undefined, directory)
    expect(code).not.toContain('unused')
    expect(code).not.toContain('second')
    expect(code).toContain('add')
  })

  it('gives the kept result for the same input', () => {
    const first = minifyCode(CODE, undefined, directory)
    const [file] = readdirSync(directory)
    writeFileSync(join(directory, String(file)), JSON.stringify({ code: 'kept' }))
    expect(first.code).not.toBe('kept')
    expect(minifyCode(CODE, undefined, directory).code).toBe('kept')
  })

  it('keeps results with and without a source map apart', () => {
    const map = JSON.stringify({ version: 3, sources: ['a.ts'], names: [], mappings: 'AAAA' })
    expect(minifyCode(CODE, undefined, directory).sourceMap).toBeUndefined()
    expect(JSON.parse(minifyCode(CODE, map, directory).sourceMap ?? '{}').sources).toEqual(['a.ts'])
  })

  it('minifies anew when the kept file is broken', () => {
    const { code } = minifyCode(CODE, undefined, directory)
    const [file] = readdirSync(directory)
    writeFileSync(join(directory, String(file)), '{"code":')
    expect(minifyCode(CODE, undefined, directory).code).toBe(code)
  })
})
