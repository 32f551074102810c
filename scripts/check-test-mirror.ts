import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { readSourceFacts } from './source-facts.ts'
import { mirrorProblems } from './test-mirror.ts'

const root = join(import.meta.dirname, '..')

/** `npm run check:tests`: exits 1 when a test mirrors no source file, or a source file with behaviour has no test. */
function main(): void {
  // The relay's bench installs packages below bench/.
  const sources = globSync('{lambdas,lib,bench,bin,scripts,web/src}/**/*.ts', {
    cwd: root,
    exclude: ['**/node_modules/**'],
  })
  const tests = globSync('test/**/*.test.ts', { cwd: root })
  const problems = mirrorProblems({
    sources: new Map(sources.map((path) => [path, factsOf(path)])),
    documents: globSync(['lambdas/**/*.json', 'config/*.yaml', 'docs/*'], { cwd: root }),
    tests,
  })
  for (const problem of problems) {
    console.error(problem)
  }
  if (problems.length > 0) {
    process.exitCode = 1
  } else {
    console.log(`${tests.length} test files stand where their names say`)
  }
}

function factsOf(path: string) {
  return readSourceFacts(path, readFileSync(join(root, path), 'utf8'), packageJson.imports)
}

main()
