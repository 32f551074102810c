import { beforeAll, describe, expect, it } from 'vitest'
import { buildConsole } from '../../lib/console/build-console.ts'
import { readConsoleFiles } from '../../lib/console/console-files.ts'

let files: ReturnType<typeof readConsoleFiles>
beforeAll(async () => {
  files = readConsoleFiles(await buildConsole())
})

describe('run-vite: the built console', () => {
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
