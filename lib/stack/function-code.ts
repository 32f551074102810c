import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { IdentitySettings } from '#core/identity.ts'
import { writeTokenizerRanks } from '../config/tokenizer-ranks.ts'
import { consoleCacheControl, readConsoleFiles } from '../console/console-files.ts'
import { type BundledFile, bundleHandler } from './bundle-handler.ts'
import type { FunctionSources } from './function-sources.ts'

/** Where the console stands below the front door, and in its bucket. */
const BELOW = 'console/'

/**
 * The files of a build as the JSON that `lambdas/console-files` writes into the bucket; an empty list without a build, as for a command
 * that deploys nothing.
 */
export function packConsole(folder: string | undefined): string {
  const files = [...filesOf(folder)].map(([path, { bytes, contentType }]) => {
    const key = `${BELOW}${path}`
    return { key, contentType, cacheControl: consoleCacheControl(`/${key}`), base64: bytes.toString('base64') }
  })
  return JSON.stringify(files.sort((one, other) => (one.key < other.key ? -1 : 1)))
}

/** Url paths of the files beside the page, which are not below `assets/`. */
export function filesBesideThePage(folder: string | undefined): readonly string[] {
  const paths = [...filesOf(folder).keys()]
  return paths.filter((path) => !path.startsWith('assets/') && path !== 'index.html').map((path) => `/${BELOW}${path}`)
}

function filesOf(folder: string | undefined): ReturnType<typeof readConsoleFiles> {
  return folder === undefined ? new Map() : readConsoleFiles(folder)
}

/**
 * The file that a Web Function loads. It is CommonJS, loads the bundle either way, and says where the files beside it are, which a Web Function
 * may not say. Without a variable that begins with `AWS_LAMBDA_`, all of which are reserved.
 */
const WEB_FUNCTION_ENTRY = ['process.env.LAMBDA_TASK_ROOT ??= __dirname', "import('./index.mjs')", ''].join('\n')

/** Writes what functions need to verify tokens: a change of anything else in the configuration deploys none of them for it. */
function writeIdentity(file: string, configurationFile: string): void {
  const { identity, trusted_origins }: GatewayConfig = JSON.parse(readFileSync(configurationFile, 'utf8'))
  writeFileSync(file, JSON.stringify({ ...identity, trusted_origins } satisfies IdentitySettings))
}

/** A document ships under the name that it has in the repository. */
function copyDocument(file: string): void {
  copyFileSync(join(import.meta.dirname, '../..', basename(file)), file)
}

/** Files that can ship with a function's code, with their writers. */
const SHIPPED_FILES = {
  'gateway.json': (file: string, { configurationFile }: FunctionSources) => copyFileSync(configurationFile, file),
  'identity.json': (file: string, { configurationFile }: FunctionSources) => writeIdentity(file, configurationFile),
  'cl100k_base.json': (file: string) => writeTokenizerRanks(file),
  'console.json': (file: string, { consoleFolder }: FunctionSources) => writeFileSync(file, packConsole(consoleFolder)),
  'index.js': (file: string) => writeFileSync(file, WEB_FUNCTION_ENTRY),
  'openapi.json': copyDocument,
  'admin-openapi.json': copyDocument,
}

/** A file that can ship with code. */
export type ShippedFile = keyof typeof SHIPPED_FILES

/** The code of one module, and the files beside it. */
export type ShippedCode = {
  readonly sources: FunctionSources
  /** Folder below `lambdas/`. */
  readonly folder: string
  /** The module in it that the platform loads. Default: `handler.ts`. */
  readonly entry?: string
  readonly files: readonly ShippedFile[]
}

/** The module that runs as a process of its own, and what ships beside it. */
export const RELAY_SERVER = {
  folder: 'relay-server',
  entry: 'main.ts',
  files: ['index.js', 'gateway.json', 'cl100k_base.json'],
} as const satisfies Omit<ShippedCode, 'sources'>

/**
 * What the process of a relay server gives to Node. On a large machine V8 lets the space for new objects grow to a hundred megabytes
 * before it collects; with this bound a thousand open streams stay below 200 MB.
 */
export const RELAY_SERVER_NODE_OPTIONS = '--max-semi-space-size=8'

/**
 * Writes `index.mjs`, its imports and the shipped files into a folder.
 * @throws BuildFailure of esbuild.
 */
export function writeCode(
  directory: string,
  { sources, files, ...module }: ShippedCode,
  withSourceMaps = false,
): readonly BundledFile[] {
  const bundled = bundleHandler({ root: sources.root, ...module, withSourceMaps }).files
  for (const { name, code } of bundled) {
    writeFileSync(join(directory, name), code)
  }
  for (const name of files) {
    SHIPPED_FILES[name](join(directory, name), sources)
  }
  return bundled
}
