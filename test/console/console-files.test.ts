import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConsoleFiles } from '../../lib/console/console-files.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reelgate-console-'))
  mkdirSync(join(directory, 'assets'))
  writeFileSync(join(directory, 'index.html'), 'page')
  writeFileSync(join(directory, 'assets/index-1.js'), 'script')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

describe('readConsoleFiles', () => {
  it('reads every file with its content type, by the path below the console', () => {
    const files = [...readConsoleFiles(directory)].map(([path, { bytes, contentType }]) => [
      path,
      bytes.toString(),
      contentType,
    ])
    expect(files.sort()).toEqual([
      ['assets/index-1.js', 'script', 'text/javascript; charset=utf-8'],
      ['index.html', 'page', 'text/html; charset=utf-8'],
    ])
  })

  it('refuses a file whose content type nobody has decided', () => {
    writeFileSync(join(directory, 'assets/photo.heic'), '')
    expect(() => readConsoleFiles(directory)).toThrow('add the content type of .heic files')
  })
})
