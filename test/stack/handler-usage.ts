import { join } from 'node:path'
import { buildSync } from 'esbuild'
import { REPOSITORY_ROOT } from '#stack/function-sources.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { keptInRun } from '../runner/kept-in-run.ts'

/** What a handler's own code does with AWS. */
export type HandlerUsage = {
  /** Sorted DynamoDB actions on the table itself. */
  readonly table: string[]
  /** Sorted partitions of the table, as a role names them. */
  readonly partitions: string[]
  readonly queriesIndex: boolean
  /** Whether it writes by transactions. */
  readonly transacts: boolean
  /** Sorted S3 actions. */
  readonly objects: string[]
  /** Names of environment variables. */
  readonly variables: string[]
  readonly readsConfiguration: boolean
  readonly readsTokenizer: boolean
  readonly readsOpenapi: string | undefined
}

/**
 * Actions behind the calls of `Table`, which has both transports behind it; a transaction is allowed by the actions of its writes.
 * No code but the transports sends commands of its own (`.dependency-cruiser.js`). Bundling numbers names that repeat.
 */
const TABLE_ACTIONS: Readonly<Record<string, RegExp>> = {
  BatchGetItem: /\.readItems\(/,
  ConditionCheckItem: /\bConditionCheck: /,
  DeleteItem: /new DeleteCommand\d*\(|\bDelete: /,
  // Items that a batch leaves out are read by themselves.
  GetItem: /\.readItems?\(/,
  PutItem: /new PutCommand\d*\(|\bPut: /,
  // Key conditions on the table itself begin so; those on the index name GSI1PK.
  Query: /["'`]PK = :pk/,
  Scan: /new ScanCommand\d*\(/,
  UpdateItem: /\.updateItem\(|\bUpdate: /,
}

const OBJECT_ACTIONS: Readonly<Record<string, RegExp>> = {
  // An upload in parts is aborted when its source fails.
  AbortMultipartUpload: /new Upload\d*\(/,
  DeleteObject: /new DeleteObjectCommand\d*\(/,
  GetObject: /new (Get|Head)ObjectCommand\d*\(/,
  ListBucket: /new ListObjects/,
  PutObject: /new (PutObject|CopyObject)Command\d*\(|new Upload\d*\(/,
}

/**
 * Reads it from the handler's bundle without packages, in which tree shaking has left only what the handler can reach. A run bundles each
 * handler once.
 */
export function usageOf(folder: string, entry = 'handler.ts'): HandlerUsage {
  return keptInRun('handler-usage', [folder, entry], () => readUsage(folder, entry))
}

function readUsage(folder: string, entry: string): HandlerUsage {
  const { outputFiles } = buildSync({
    entryPoints: [join(REPOSITORY_ROOT, 'lambdas', folder, entry)],
    absWorkingDir: REPOSITORY_ROOT,
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    // Where there is no CDN, and where the configuration has issuers, only; test/stack/video-delivery.test.ts and gateway-api.test.ts say what they
    // may then.
    external: ['./presigned-url.ts', './token-subject.ts'],
    logLevel: 'silent',
    // Our own code is no package, although it is imported by names that look like one.
    alias: Object.fromEntries([
      ...['core', 'store', 'platform', 'upstream', 'middleware', 'routes'].map((name) => [
        `#${name}`,
        join(REPOSITORY_ROOT, 'lambdas', name),
      ]),
      ['#lambdas', join(REPOSITORY_ROOT, 'lambdas')],
    ]),
  })
  const code = outputFiles.map(({ text }) => text).join('')
  const present = (actions: Readonly<Record<string, RegExp>>) =>
    Object.entries(actions).flatMap(([action, pattern]) => (pattern.test(code) ? [action] : []))
  return {
    table: present(TABLE_ACTIONS),
    partitions: partitionsIn(code),
    queriesIndex: /IndexName: /.test(code),
    transacts: /\.transact\(/.test(code),
    objects: present(OBJECT_ACTIONS),
    variables: [...code.matchAll(/(?:process\.env|environment)\.([A-Z]\w+)|environmentVariable\("(\w+)"\)/g)].flatMap(
      ([, direct, required]) => direct ?? required ?? [],
    ),
    readsConfiguration: code.includes('gateway.json'),
    readsTokenizer: code.includes('cl100k_base.json'),
    readsOpenapi: /"((?:admin-)?openapi\.json)"/.exec(code)?.[1],
  }
}

/** Every key of the table is made by a function of `tableKeys`. */
function partitionsIn(code: string): string[] {
  const used = new Set([...code.matchAll(/\btableKeys\d*\.(\w+)\(/g)].map(([, name]) => name))
  const partitions = Object.entries(tableKeys).flatMap(([name, keyOf]) =>
    used.has(name) ? [keyOf('x', 'x').PK.replace(/#.*/, '#*')] : [],
  )
  return [...new Set(partitions)].sort()
}
