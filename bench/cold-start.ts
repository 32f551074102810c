import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { BUNDLE_BUDGET, bundleHandler, weighBundle } from '#stack/bundle-handler.ts'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { loadGatewayConfig } from '../lib/config/load-gateway-config.ts'
import { markdownTable } from './markdown-table.ts'
import type { MeasureOptions } from './measurement.ts'
import { median, quantile } from './statistics.ts'

/** Fresh processes per bundle. */
const PROCESSES = { full: 25, quick: 5 }

/** Milliseconds that loading may take; from a machine of this kind, Node 20, with hand-trimmed bundles of the same clients. */
const LOAD_TARGETS: Readonly<Record<string, number>> = {
  'api/get-video-job': 46,
  'api/list-video-jobs': 46,
  'api/create-video-job': 48,
  'pipeline/poll-video-job': 35,
  'pipeline/store-video': 52,
  'api/delete-video-job': 52,
}

/** What the clients cost alone. */
const REFERENCES: Readonly<Record<string, string>> = {
  empty: 'nothing at all',
  dynamodb: 'client-dynamodb, lib-dynamodb',
  'dynamodb-s3-sfn': 'and client-s3, lib-storage, client-sfn',
}

type Candidate = {
  readonly name: string
  readonly isReference: boolean
  /** Minified. */
  readonly kilobytes: { readonly atStart: number; readonly atStartGzip: number; readonly deployed: number }
  readonly file: string
  readonly milliseconds: number[]
}

/** How large each function is as it is deployed, and how long a fresh process takes to load it, beside the bare SDK clients. */
export async function measureColdStart({ quick, progress }: MeasureOptions): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'reelgate-bench-'))
  try {
    progress('bundling')
    const candidates = [...bundleReferences(directory), ...bundleHandlers(directory)]
    const processes = quick ? PROCESSES.quick : PROCESSES.full
    writeConfiguration(directory)
    for (let round = 0; round < processes; round += 1) {
      progress(`loading, round ${round + 1} of ${processes}`)
      for (const candidate of rotated(candidates, round)) {
        candidate.milliseconds.push(await loadOnce(candidate.file, directory))
      }
    }
    return report(candidates, processes)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function bundleReferences(directory: string): Candidate[] {
  const root = join(import.meta.dirname, 'references')
  return Object.entries(REFERENCES).map(([folder, name]) => ({
    ...bundle({ root, folder, directory }),
    name,
    isReference: true,
  }))
}

function bundleHandlers(directory: string): Candidate[] {
  const folders = globSync('**/handler.ts', { cwd: join(REPOSITORY_ROOT, 'lambdas') }).map(dirname)
  return folders.sort().map((folder) => ({
    ...bundle({ root: REPOSITORY_ROOT, folder, directory }),
    name: folder,
    isReference: false,
  }))
}

function bundle({ root, folder, directory }: { root: string; folder: string; directory: string }) {
  const bundled = bundleHandler({ root, folder })
  const parent = join(directory, folder)
  mkdirSync(parent, { recursive: true })
  for (const { name, code } of bundled.files) {
    writeFileSync(join(parent, name), code)
  }
  const atStart = bundled.files.flatMap(({ code, isLoadedAtStart }) => (isLoadedAtStart ? [code] : []))
  const atStartGzip = gzipSync(atStart.join('')).length / 1000
  return { kilobytes: { ...weighBundle(bundled), atStartGzip }, file: join(parent, 'index.mjs'), milliseconds: [] }
}

/** The configuration that a deployment lays beside the code; any upstream address will do, none is called. */
function writeConfiguration(directory: string): void {
  const file = join(REPOSITORY_ROOT, 'config', 'gateway.yaml')
  const environment = { P1_BASE_URL: 'http://127.0.0.1:9', P2_DIRECT_BASE_URL: 'http://127.0.0.1:9' }
  const { config } = loadGatewayConfig({ file, environment, mode: 'synth' })
  writeFileSync(join(directory, 'gateway.json'), JSON.stringify(config))
}

/** No candidate is always the one behind the largest. */
function rotated<Item>(items: readonly Item[], by: number): Item[] {
  const shift = by % items.length
  return [...items.slice(shift), ...items.slice(0, shift)]
}

const TIME_IMPORT =
  'const before = performance.now(); await import(process.argv[1]); console.log(performance.now() - before)'

/** Milliseconds that a fresh process takes for the import alone, its own start left out. */
async function loadOnce(file: string, directory: string): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', TIME_IMPORT, file], {
    env: {
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'none',
      AWS_SECRET_ACCESS_KEY: 'none',
      TABLE_NAME: 'table',
      BUCKET_NAME: 'bucket',
      LAMBDA_TASK_ROOT: directory,
      LOG_LEVEL: 'INFO',
    },
  })
  return Number(stdout)
}

function report(candidates: readonly Candidate[], processes: number): string {
  const rows = candidates.map(({ name, isReference, kilobytes, milliseconds }) => [
    isReference ? `*${name}*` : `\`${name}\``,
    kilobytes.atStart.toFixed(0),
    isReference ? '' : BUNDLE_BUDGET.atStart,
    kilobytes.atStartGzip.toFixed(0),
    kilobytes.deployed.toFixed(0),
    median(milliseconds).toFixed(1),
    quantile(milliseconds, 0.95).toFixed(1),
    LOAD_TARGETS[name] ?? '',
  ])
  const head = ['function', 'KB at start', 'budget', 'gzip', 'KB in all', 'load ms', 'p95', 'target']
  return [
    '## Cold start',
    '',
    `Every function bundled as it is deployed, beside bare clients of the SDK bundled the same way. Load: the import alone, median`,
    `and 95th percentile of ${processes} fresh processes each, interleaved, warm page cache. Minified KB (1000 bytes).`,
    '',
    markdownTable(head, rows),
  ].join('\n')
}
