import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { buildConsole } from '../../lib/console/build-console.ts'
import { readConsoleFiles } from '../../lib/console/console-files.ts'

describe('buildConsole', () => {
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

describe('run-vite: the built console', () => {
  let files: ReturnType<typeof readConsoleFiles>
  beforeAll(async () => {
    files = readConsoleFiles(await buildConsole())
  })

  it('has one page, and every other file has a hash in its name', () => {
    const names = [...files.keys()].filter((name) => name !== 'index.html')
    expect(names.length).toBeGreaterThan(2)
    expect(names.filter((name) => !/^assets\/[\w.-]+-[\w-]{8}\.(js|css|svg)$/.test(name))).toEqual([])
  })

  it('has nothing that its policy forbids: no inline script, no style attribute, no data url, no other origin', () => {
    const page = files.get('index.html')?.bytes.toString() ?? ''
    expect(page).toContain('<script type="module" crossorigin src="/console/assets/')
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=|data:|https?:/)
    const styles = [...files].filter(([name]) => name.endsWith('.css')).map(([, { bytes }]) => bytes.toString())
    expect(styles.join('')).not.toMatch(/@import|data:|https?:/)
  })

  it('leaves light and dark colours to the browser', () => {
    const styles = [...files].filter(([name]) => name.endsWith('.css')).map(([, { bytes }]) => bytes.toString())
    expect(styles.join('')).toContain('light-dark(')
  })
})
