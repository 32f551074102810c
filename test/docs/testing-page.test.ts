import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { REPOSITORY, withoutRunner } from '../e2e/child-environment.ts'
import { whenTestEnds } from '../runner/when-test-ends.ts'

const page = readFileSync(join(REPOSITORY, 'docs/testing.md'), 'utf8')
const section = page.slice(page.indexOf('\n## Tests of a client'), page.indexOf('\n## The local host'))
const snippets = [...section.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = '', code = '']) => ({
  language,
  code,
}))

/** Its first line is its name. */
function fileName(code: string): string {
  return /^(?:\/\/|#) (\S+\.(?:mjs|yaml))\n/.exec(code)?.[1] ?? ''
}

describe('docs/testing.md', () => {
  it('opens with the tests of a client', () => {
    expect(page.match(/^## .*/gm)?.[0]).toBe('## Tests of a client')
  })

  it('has files of a client’s tests that pass as they stand there', async () => {
    const files = snippets.filter(({ language }) => language !== 'sh')
    const commands = snippets.filter(({ language }) => language === 'sh').map(({ code }) => code.trim())
    expect(commands).toStrictEqual(['REELGATE=/path/to/reelgate node --test'])
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap'], {
      cwd: writeFiles(files),
      env: { ...withoutRunner(), REELGATE: REPOSITORY },
    }).catch((error: { stdout: string; stderr: string }) => {
      throw new Error(error.stdout + error.stderr)
    })
    const tests = files.flatMap(({ code }) => code.match(/^test\(/gm) ?? [])
    expect(stdout).toContain(`# pass ${tests.length}\n`)
    expect(stdout).toContain('# fail 0\n')
  })

  it.each([undefined, '/nowhere', import.meta.dirname])(
    'has a file that says what to set when the folder of the gateway is %s',
    async (folder) => {
      const start = "await (await import('./gateway.mjs')).startGateway().catch(({ message }) => console.log(message))"
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', start], {
        cwd: writeFiles(snippets.filter(({ code }) => fileName(code) === 'gateway.mjs')),
        env: { ...withoutRunner(), ...(folder === undefined ? {} : { REELGATE: folder }) },
      })
      expect(stdout).toBe('set REELGATE to the folder of the gateway\n')
    },
  )
})

/** Below the repository, so that `openai` is found. */
function writeFiles(files: typeof snippets): string {
  const cache = join(REPOSITORY, 'node_modules/.cache/reelgate')
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, 'testing-page-'))
  whenTestEnds(() => rmSync(directory, { recursive: true }))
  for (const { code } of files) {
    expect(fileName(code)).not.toBe('')
    writeFileSync(join(directory, fileName(code)), code)
  }
  return directory
}
