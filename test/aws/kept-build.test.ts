import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keptBuild } from '#aws/kept-build.ts'

let root: string
let kept: string

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'reelgate-built-'))
  kept = join(root, 'kept')
  write('index.ts', "import { word } from './word.ts'\nconsole.log(word)\n")
  write('word.ts', "export const word: string = 'first'\n")
  await settled()
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

function write(name: string, content: string): void {
  writeFileSync(join(root, name), content)
}

/** Resolves when the sources are older than a build that begins now, so that its result is kept. */
async function settled(): Promise<void> {
  const writtenAt = Date.now()
  await vi.waitUntil(() => Date.now() > writtenAt + 40, { interval: 5 })
}

function build(changes: { readonly minify?: boolean } = {}): string {
  const options = { entryPoints: [join(root, 'index.ts')], outdir: '.', bundle: true, logLevel: 'silent' as const }
  const { outputFiles } = keptBuild({ ...options, write: false, metafile: true, absWorkingDir: root, ...changes }, kept)
  return outputFiles.map(({ text }) => text).join('')
}

/** Puts another result in the place of the kept one. */
function tamper(): void {
  for (const name of readdirSync(kept)) {
    const { digest, metafile } = JSON.parse(readKept(name))
    writeFileSync(join(kept, name), JSON.stringify({ digest, metafile, outputFiles: [{ path: 'a', text: 'kept' }] }))
  }
}

function readKept(name: string): string {
  return readFileSync(join(kept, name), 'utf8')
}

describe('keptBuild', () => {
  it('gives the kept result while no source has changed', () => {
    expect(build()).toContain('first')
    tamper()
    expect(build()).toBe('kept')
  })

  it('builds again when a source has changed, also to the same length', () => {
    build()
    write('word.ts', "export const word: string = 'other'\n")
    expect(build()).toContain('other')
    write('word.ts', "export const word: string = 'third'\n")
    expect(build()).toContain('third')
  })

  it.each(['package.json', 'package-lock.json', 'tsconfig.json'])('builds again when %s has changed', (name) => {
    build()
    tamper()
    write(name, '{}')
    expect(build()).toContain('first')
  })

  it('builds again with other options, and after its file was cut', () => {
    build()
    tamper()
    expect(build({ minify: true })).toContain('first')
    for (const name of readdirSync(kept)) {
      writeFileSync(join(kept, name), readKept(name).slice(0, 20))
    }
    expect(build()).toContain('first')
  })

  it('keeps no result of a source that has just changed, because it may have changed during the build', () => {
    write('word.ts', "export const word: string = 'other'\n")
    build()
    expect(existsSync(kept)).toBe(false)
  })

  it('throws when a source is gone, although an earlier result is kept', () => {
    build()
    unlinkSync(join(root, 'word.ts'))
    expect(() => build()).toThrow('Could not resolve')
  })
})
