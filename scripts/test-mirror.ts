import { posix } from 'node:path'
import type { SourceFacts } from './source-facts.ts'

/** Folders of what is tested, and of the tests that mirror it. */
const ROOTS: readonly { sources: string; tests: string }[] = [
  { sources: 'lambdas/', tests: 'test/' },
  { sources: 'lib/', tests: 'test/' },
  { sources: 'web/src/', tests: 'test/web/' },
  { sources: 'bench/', tests: 'test/bench/' },
  { sources: 'bin/', tests: 'test/bin/' },
  { sources: 'scripts/', tests: 'test/scripts/' },
  { sources: 'config/', tests: 'test/config/' },
  { sources: 'docs/', tests: 'test/docs/' },
  { sources: 'web/src/', tests: 'test/web/' },
]

/** Folders whose files with behaviour each need a test. The rest of the console runs in a browser, and is tested there. */
const TESTED = /^(lambdas|lib|web\/src\/core)\//

/** Tests of several units at once, by folder, each with what holds it together. */
export const SUITES = {
  'test/browser': 'the console, in a real browser',
  'test/e2e': 'the whole local host, by HTTP and by its commands',
  'test/engines': 'what the tests themselves run on',
  'test/events': 'every bundle, started with its sample event',
  'test/faults': 'injected faults, through the whole of what they reach',
  'test/lambda-runtime': "the relayed routes on Lambda's own runtime client",
  'test/logs': 'the search of all logs of the tests for secrets',
  'test/observability': 'what is measured, against what is watched',
  'test/relayed-routes': 'what holds for every relayed route, through its handler',
  'test/runner': 'what test files of one worker share',
  'test/simulation': 'random histories of jobs and money',
}

/** The repository, as far as the mirror goes. All paths are relative to its root. */
export interface MirroredFiles {
  sources: ReadonlyMap<string, SourceFacts>
  /** Files besides TypeScript that may have a test: definitions, configuration and pages, or a folder of pages. */
  documents: readonly string[]
  tests: readonly string[]
}

/** One sentence for each test that mirrors no file, and for each file whose test is missing; sorted. */
export function mirrorProblems({ sources, documents, tests }: MirroredFiles): string[] {
  const stems = new Set([...sources.keys(), ...documents].map(testStem))
  return [
    ...tests.filter((test) => unitStem(test, stems) === undefined && !isInSuite(test)).map(strayTest),
    ...untestedFiles(sources, new Set(tests.map((test) => unitStem(test, stems)))).map(missingTest),
  ].sort()
}

/** `lambdas/relay/failover.ts` is tested by `test/relay/failover.test.ts`: everything before `.test.ts`. */
function testStem(file: string): string {
  const root = ROOTS.find(({ sources }) => file.startsWith(sources))
  return root === undefined ? file : root.tests + file.slice(root.sources.length).replace(/\.(ts|json|yaml|md)$/, '')
}

/** The stem of the unit that a test is named after; a unit's test may have an aspect between its name and `.test.ts`. */
function unitStem(test: string, stems: ReadonlySet<string>): string | undefined {
  const names = posix.basename(test, '.test.ts').split('.')
  return names
    .map((_, index) => posix.join(posix.dirname(test), names.slice(0, names.length - index).join('.')))
    .find((stem) => stems.has(stem))
}

function isInSuite(test: string): boolean {
  return Object.keys(SUITES).some((folder) => test.startsWith(`${folder}/`))
}

function untestedFiles(sources: MirroredFiles['sources'], tested: ReadonlySet<string | undefined>): string[] {
  const importers = importersOf(sources)
  const testedFolders = new Set([...tested].flatMap((stem) => (stem === undefined ? [] : [posix.dirname(stem)])))
  return [...sources]
    .filter(([file, { holdsBehaviour }]) => TESTED.test(file) && holdsBehaviour && !tested.has(testStem(file)))
    .filter(([file]) => !isPart(file, importers.get(file) ?? []))
    .filter(([file, facts]) => !(isWiring(file, facts) && testedFolders.has(posix.dirname(testStem(file)))))
    .map(([file]) => file)
}

function importersOf(sources: MirroredFiles['sources']): Map<string, string[]> {
  const importers = new Map<string, string[]>()
  for (const [file, { imports }] of sources) {
    for (const imported of new Set(imports)) {
      importers.set(imported, [...(importers.get(imported) ?? []), file])
    }
  }
  return importers
}

/** Used by one file of its own folder alone: tested through that file. */
function isPart(file: string, importers: readonly string[]): boolean {
  const [only, ...others] = importers
  return only !== undefined && others.length === 0 && posix.dirname(only) === posix.dirname(file)
}

/** A handler without a decision hands its event to the use case beside it, which has the test. */
function isWiring(file: string, { holdsDecisions }: SourceFacts): boolean {
  return posix.basename(file) === 'handler.ts' && !holdsDecisions
}

function strayTest(test: string): string {
  const suites = Object.keys(SUITES).join(', ')
  return `${test} has the name of no source file: name it after the file that it tests, test/<path>/<file>.test.ts or test/<path>/<file>.<aspect>.test.ts, or move it to a suite over several files (${suites})`
}

function missingTest(file: string): string {
  return `${file} has no test: write ${testStem(file)}.test.ts, or merge the file into the one that uses it`
}
