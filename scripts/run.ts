import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** The tasks of package.json, by the name of their script. Each is false when it finds a fault, and loads only what it needs. */
const TASKS: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
  openapi: () => write('openapi'),
  schema: writeSchema,
  tables: () => write('tables'),
  diagram: () => write('diagram'),
  event: printEvent,
  'web:types': writeWebTypes,
  'check:generated': checkGenerated,
  'check:links': checkLinks,
  'check:names': checkNames,
  'check:bundles': checkBundles,
  'check:console': checkConsole,
  package: writePackage,
}

async function write(command: 'openapi' | 'tables' | 'diagram'): Promise<boolean> {
  const { writeGenerated } = await import('../lib/openapi/generated-files.ts')
  writeGenerated(command)
  return true
}

/** Writes the JSON schema of configuration files, with which editors complete and check them. It is not committed. */
async function writeSchema(): Promise<boolean> {
  const { configJsonSchema } = await import('../lib/config/load-gateway-config.ts')
  writeFileSync(join(ROOT, 'config/gateway.schema.json'), configJsonSchema())
  return true
}

/** Prints a sample event of an operation of the client API; without a name, or for a wrong one, the names of all. */
async function printEvent(): Promise<boolean> {
  const [{ ROUTES }, { sampleEvent }] = await Promise.all([
    import('#routes/index.ts'),
    import('../lib/openapi/sample-event.ts'),
  ])
  const asked = process.argv[3]
  const route = ROUTES.find(({ operation }) => operation === asked)
  if (route === undefined && asked !== undefined) {
    console.error(`there is no operation ${asked}; these are all:`)
  }
  const names = ROUTES.map(({ operation }) => operation).join('\n')
  console.log(route === undefined ? names : JSON.stringify(sampleEvent(route)))
  return route !== undefined || asked === undefined
}

/** Prints the command that updates a generated file that is out of date. */
async function checkGenerated(): Promise<boolean> {
  const { committedContent, GENERATED_FILES } = await import('../lib/openapi/generated-files.ts')
  const stale = GENERATED_FILES.filter((file) => committedContent(file) !== file.content())
  for (const { path, command } of stale) {
    console.error(`${path} is out of date: npm run ${command}`)
  }
  if (stale.length === 0) {
    console.log(`${GENERATED_FILES.length} generated files are up to date`)
  }
  return stale.length === 0
}

/** Finds links of pages to files and headings that do not exist. */
async function checkLinks(): Promise<boolean> {
  const { brokenLinks } = await import('../lib/openapi/markdown.ts')
  const broken = brokenLinks(ROOT)
  for (const link of broken) {
    console.error(`${link} does not exist`)
  }
  if (broken.length === 0) {
    console.log('every link between pages resolves')
  }
  return broken.length === 0
}

/** Words that name too many things, and the words in their place. Configuration fields keep theirs. */
const GIVEN_UP: ReadonlyMap<RegExp, string> = new Map([
  [/answer/i, 'reply of an upstream, response to a client, output of a command'],
  [/(?<!re)member/i, 'field'],
  [/passing/i, 'allowed, relayed or streamed'],
])

const DECLARATION = /\b(?:const|let|function|class|type|enum) (\w+)/g

/** Finds names of our code with a word that was given up. */
function checkNames(): boolean {
  const kept = new Set(['passMembers', 'hiddenMembers'])
  const found = globSync('{bin,lambdas,lib,scripts,web/src}/**/*.{ts,tsx}', { cwd: ROOT }).flatMap((file) =>
    Array.from(readFileSync(join(ROOT, file), 'utf8').matchAll(DECLARATION), ([, name = '']) => ({ file, name })),
  )
  let isClean = true
  for (const { file, name } of found.filter((each) => !kept.has(each.name))) {
    const better = [...GIVEN_UP].find(([word]) => word.test(name))?.[1]
    if (better !== undefined) {
      console.error(`${file}: ${name}: use ${better}`)
      isClean = false
    }
  }
  return isClean
}

/** Bundles every handler and the relay server as a deployment does, and finds those above their budget. */
async function checkBundles(): Promise<boolean> {
  const { BUNDLE_BUDGET, bundleHandler, weighBundle } = await import('#stack/bundle-handler.ts')
  const { deployedModules } = await import('../lib/package/build-package.ts')
  const modules = deployedModules()
  const width = Math.max(...modules.map(({ folder }) => folder.length))
  const kilobytes = (value: number) => `${value.toFixed(0).padStart(4)} KB`
  let isWithin = true
  for (const { folder, entry } of modules) {
    const { atStart, deployed } = weighBundle(bundleHandler({ root: ROOT, folder, entry }))
    const isAbove = atStart > BUNDLE_BUDGET.atStart || deployed > BUNDLE_BUDGET.deployed
    const sizes = `${kilobytes(atStart)} at start of ${BUNDLE_BUDGET.atStart}, ${kilobytes(deployed)} in all of ${BUNDLE_BUDGET.deployed}`
    console.log(`${folder.padEnd(width)}  ${sizes}${isAbove ? '  ABOVE BUDGET' : ''}`)
    isWithin &&= !isAbove
  }
  return isWithin
}

/** Makes `reelgate-<version>.tgz`, in the directory that is named or in this one, and prints its path. */
async function writePackage(): Promise<boolean> {
  const { buildPackage } = await import('../lib/package/build-package.ts')
  const folder = join(ROOT, 'dist')
  await buildPackage(folder)
  const destination = resolve(process.argv[3] ?? '.')
  mkdirSync(destination, { recursive: true })
  const parameters = ['pack', folder, '--silent', '--pack-destination', destination]
  console.log(join(destination, execFileSync('npm', parameters, { encoding: 'utf8' }).trim()))
  return true
}

/** Builds the console, and weighs its first page. */
async function checkConsole(): Promise<boolean> {
  const { buildConsole } = await import('../lib/console/build-console.ts')
  const { FIRST_LOAD_BYTES_MAX, firstLoad, readConsoleFiles } = await import('../lib/console/console-files.ts')
  const files = firstLoad(readConsoleFiles(await buildConsole()))
  const sum = files.reduce((total, { bytes }) => total + bytes, 0)
  const isAbove = sum > FIRST_LOAD_BYTES_MAX
  for (const { name, bytes } of files) {
    console.log(`${String(bytes).padStart(7)} bytes of gzip  ${name}`)
  }
  const all = `${String(sum).padStart(7)} bytes of gzip in all of ${FIRST_LOAD_BYTES_MAX}`
  console.log(`${all}${isAbove ? '  ABOVE BUDGET' : ''}`)
  return !isAbove
}

/** A package of its own, because the generator wants TypeScript 5: `npm ci` installs it with everything else. */
const TYPES_GENERATOR = join(ROOT, 'test/client-generator/node_modules/openapi-typescript/bin/cli.js')

const TYPES_OF: Readonly<Record<string, string>> = {
  'openapi.json': 'web/src/api/gateway-api.d.ts',
  'admin-openapi.json': 'web/src/api/admin-api.d.ts',
}

/**
 * Writes the types of both APIs for the console, from their OpenAPI documents. They are not committed. A field with a default may be left out
 * of a request. Takes about three seconds.
 */
function writeWebTypes(): boolean {
  for (const [document, types] of Object.entries(TYPES_OF)) {
    const options = ['--default-non-nullable=false', '--output', types]
    // The generator prints its own name and times.
    execFileSync(process.execPath, [TYPES_GENERATOR, document, ...options], { cwd: ROOT, stdio: 'ignore' })
  }
  return true
}

const [name = ''] = process.argv.slice(2)
const task = TASKS[name]
if (task === undefined) {
  console.error(`no task ${name}; one of: ${Object.keys(TASKS).join(', ')}`)
  process.exitCode = 2
} else if (!(await task())) {
  process.exitCode = 1
}
