import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildConsole } from '../../lib/console/build-console.ts'

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'reelgate-console-'))
  mkdirSync(join(root, 'web/src'), { recursive: true })
  writeFileSync(join(root, 'web/tsconfig.json'), '{}')
  writeFileSync(join(root, 'web/index.html'), '<script type="module" src="/src/main.ts"></script>')
  writeMain('one')
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function writeMain(word: string): void {
  writeFileSync(join(root, 'web/src/main.ts'), `document.title = ${JSON.stringify(word)}\n`)
}

describe('buildConsole', () => {
  it('builds once for the same sources, also when two processes ask at once', async () => {
    const [first, second] = await Promise.all([buildConsole(root), buildConsole(root)])
    expect(second).toBe(first)
    expect(readdirSync(join(root, 'web/dist'))).toEqual([basename(first)])
    writeFileSync(join(first, 'mark'), '')
    expect(await buildConsole(root)).toBe(first)
    expect(existsSync(join(first, 'mark'))).toBe(true)
  })

  it('builds changed sources into another folder, and removes an old build after a while alone', async () => {
    const before = await buildConsole(root)
    const old = join(root, 'web/dist/old')
    mkdirSync(old)
    utimesSync(old, 0, 0)
    writeMain('two')
    const after = await buildConsole(root)
    expect(after).not.toBe(before)
    expect(readdirSync(join(root, 'web/dist')).sort()).toEqual([basename(before), basename(after)].sort())
  })

  it('says what is wrong with sources that cannot be built, and leaves nothing of them', async () => {
    writeFileSync(join(root, 'web/src/main.ts'), "import './absent.ts'\n")
    const builds = readdirSync(join(root, 'web/dist'))
    await expect(buildConsole(root)).rejects.toThrow('absent.ts')
    expect(readdirSync(join(root, 'web/dist'))).toEqual(builds)
  })
})
