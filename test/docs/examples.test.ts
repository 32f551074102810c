import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from '@jest/globals'

const ROOT = join(import.meta.dirname, '..', '..')
const DOCS = join(ROOT, 'docs')
const PAGES = [
  join(ROOT, 'README.md'),
  ...readdirSync(DOCS)
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(DOCS, name)),
]

type Example = { readonly name: string; readonly code: string }

/** The examples of all pages in a language, each named by its page and line. */
function examplesIn(language: string): Example[] {
  return PAGES.flatMap((page) => {
    const text = readFileSync(page, 'utf8')
    return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(
      ({ index, 1: code = '' }) => ({
        name: `${basename(page, '.md')}-${text.slice(0, index).split('\n').length}`,
        code,
      }),
    )
  })
}

/** A project of a client: strict, with the SDKs that the tests use. */
const TSCONFIG = {
  compilerOptions: {
    ...{ target: 'es2024', module: 'nodenext', moduleDetection: 'force', types: ['node'] },
    ...{ strict: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true },
  },
}

const directory = mkdtempSync(join(tmpdir(), 'examples-'))
afterAll(() => {
  rmSync(directory, { recursive: true })
})

/** The exit code of the compiler, and what it says. */
function compile(examples: readonly Example[]) {
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ type: 'module' }))
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  for (const { name, code } of examples) {
    writeFileSync(join(directory, `${name}.ts`), code)
  }
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const { status, stdout } = spawnSync(process.execPath, [tsc, '-p', directory], { cwd: directory, encoding: 'utf8' })
  return { status, stdout }
}

const PYTHON = 'python3'
const hasPython = spawnSync(PYTHON, ['--version']).status === 0

describe('the examples of README and docs', () => {
  it('in TypeScript compile with the real SDKs, strictly', () => {
    const examples = examplesIn('ts')
    const others = examplesIn('js').map(({ name }) => name)
    // A test runs those of the page on testing.
    expect(others.filter((name) => !name.startsWith('testing-'))).toEqual([])
    expect(examples.map(({ name }) => name.replace(/-\d+$/, ''))).toEqual(expect.arrayContaining(['README', 'api']))
    expect(compile(examples)).toEqual({ status: 0, stdout: '' })
  })

  it('in Python are there, and valid where there is a Python', () => {
    const examples = examplesIn('python')
    expect(examples.length).toBeGreaterThanOrEqual(3)
    for (const { code } of hasPython ? examples : []) {
      execFileSync(PYTHON, ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: code })
    }
  })
})
