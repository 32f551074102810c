import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import * as z from 'zod'
import { bundleHandler } from '#stack/bundle-handler.ts'
import { RELAY_SERVER } from '#stack/function-code.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { SETTINGS } from '../config/context-settings.ts'
import { CONFIGURATION_FILE } from '../config/load-gateway-config.ts'
import { writeTokenizerRanks } from '../config/tokenizer-ranks.ts'
import { buildConsole } from '../console/build-console.ts'
import { prebuiltFile, TOKENIZER_RANKS } from './prebuilt.ts'

/** Files that a stack reads from where they are, and the licence. */
const COPIED_FILES = [
  CONFIGURATION_FILE,
  'openapi.json',
  'admin-openapi.json',
  'lambdas/pipeline/video-job.asl.json',
  'LICENSE',
]

/** What is deployed: each handler, and the relay server. */
export function deployedModules(): readonly { readonly folder: string; readonly entry: string }[] {
  const handlers = globSync('**/handler.ts', { cwd: join(REPOSITORY_ROOT, 'lambdas') }).sort()
  return [...handlers.map((file) => ({ folder: dirname(file), entry: basename(file) })), RELAY_SERVER]
}

/** What the app brings. */
const EXTERNAL = ['aws-cdk-lib', 'constructs']

/** Leads imports of these modules to what was built before. */
const PREBUILT: Plugin = {
  name: 'prebuilt',
  setup({ onResolve }) {
    const path = join(import.meta.dirname, 'prebuilt.ts')
    onResolve({ filter: /\/(bundle-handler|tokenizer-ranks)\.ts$/ }, () => ({ path }))
  },
}

/**
 * Writes the package of the construct: one module with its types, the bundled functions, and the files that ship with them. Folders keep their
 * places, because modules look for the files two folders above.
 * @param directory is replaced.
 */
export async function buildPackage(directory: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true })
  const place = (path: string) => {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    return join(directory, path)
  }
  await build({
    entryPoints: [join(import.meta.dirname, 'reelgate.ts')],
    outfile: place('lib/package/reelgate.js'),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: EXTERNAL,
    plugins: [PREBUILT],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    logLevel: 'error',
  })
  writeFileSync(place('lib/package/reelgate.d.ts'), typesOfPackage())
  writeFileSync(place('package.json'), JSON.stringify(manifest(), undefined, 2))
  for (const module of deployedModules()) {
    const { files } = bundleHandler({ root: REPOSITORY_ROOT, ...module })
    writeFileSync(place(prebuiltFile(module)), JSON.stringify({ files }))
  }
  for (const file of COPIED_FILES) {
    copyFileSync(join(REPOSITORY_ROOT, file), place(file))
  }
  writeTokenizerRanks(place(TOKENIZER_RANKS))
  cpSync(await buildConsole(), place('console'), { recursive: true })
}

/** The checkout's, without what only the checkout needs. CDK is the app's own: two copies of it do not know each other's constructs. */
function manifest(): object {
  const { name, version, description, license, type, engines, devDependencies } = JSON.parse(
    readFileSync(join(REPOSITORY_ROOT, 'package.json'), 'utf8'),
  )
  const peerDependencies = Object.fromEntries(EXTERNAL.map((each) => [each, `^${devDependencies[each]}`]))
  const exports = { '.': { types: './lib/package/reelgate.d.ts', default: './lib/package/reelgate.js' } }
  return { name, version, description, license, type, engines, exports, peerDependencies }
}

/** The declarations of lib/package/reelgate.ts, with what docs/deploy.md says of each setting. */
function typesOfPackage(): string {
  const settings = Object.entries(SETTINGS).map(([name, { schema, meaning }]) => {
    const text = meaning.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    return `  /** ${text} */\n  readonly ${name}${name === 'config' ? '' : '?'}: ${typeOf(schema)}\n`
  })
  return `import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { IBucket } from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'

/** Settings of a stage. Paths are relative to the working directory. */
export interface ReelgateProps {
${settings.join('')}}

/** The gateway as a construct. One of them fits into a stack. */
export declare class Reelgate extends Construct {
  constructor(scope: Construct, id: string, props: ReelgateProps)
  /** Where clients find the API, with a slash at the end. */
  readonly baseUrl: string
  /** The front door, without a slash at the end; undefined without the console. */
  readonly url: string | undefined
  readonly tableName: string
  readonly bucket: IBucket
  /** Gets alarms and the alerts of tenants; undefined for a stage without alarms. */
  readonly alarmTopic: ITopic | undefined
}
`
}

/** The type of the values that a setting takes in code; a command line gives strings. */
function typeOf(schema: z.ZodType): string {
  const { anyOf, type, enum: values } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const types = new Set((anyOf ?? [{ type, enum: values }]).map((each) => typeof each === 'object' && each.type))
  const [choices] = [values, ...(anyOf ?? []).map((each) => (typeof each === 'object' ? each.enum : undefined))].filter(
    (each) => each?.includes('true') === false,
  )
  if (types.has('boolean')) {
    return choices === undefined ? 'boolean' : `boolean | ${choices.map((each) => `'${each}'`).join(' | ')}`
  }
  if (types.has('number')) {
    return 'number'
  }
  return choices?.map((each) => `'${each}'`).join(' | ') ?? 'string'
}
