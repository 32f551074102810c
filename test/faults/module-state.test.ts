import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { parseSync } from '@swc/core'
import { build } from 'esbuild'

const ROOT = join(import.meta.dirname, '..', '..')

/** One process serves many requests at once. Everything that its modules keep, and why no request sees another one's. */
const KEPT: Readonly<Record<string, string>> = {
  'lambdas/middleware/token-subject.ts verifier: once': 'the public keys of each issuer of the deployment',
  'lambdas/middleware/caller-context.ts openCallerTable: once': 'the table of the deployment',
  'lambdas/middleware/token-subject.ts admissions: new Map': 'keys that are being made, by the digest of their subject',
  'lambdas/middleware/token-subject.ts tenantIds: new RecentValues': 'the ids of the tenants of at most 1,000 rules',
  'lambdas/upstream/guard/guarded-request.ts globalIpv6: new BlockList': 'address ranges of the internet',
  'lambdas/upstream/guard/guarded-request.ts specialIpv4: new BlockList': 'address ranges of the internet',
  'lambdas/upstream/guard/guarded-request.ts specialIpv6: new BlockList': 'address ranges of the internet',
  'lambdas/upstream/guard/outbound-network.ts threads: new Places': 'a number of free places',
  'lambdas/platform/aws/call-aws-service.ts kept: new Map': 'one url for each of two services',
  'lambdas/platform/aws/call-aws-service.ts httpClient: once': 'connections; a URL for each service',
  'lambdas/platform/aws/signature-v4.ts signingKeys: new RecentValues':
    'the last 8 keys, of the credentials of the process',
  'lambdas/platform/aws/sts.ts source: let': 'set once, by the local host',
  'lambdas/platform/upstream-auth/token-exchange.ts httpClient: once': 'connections, each for one exchange',
  'lambdas/platform/upstream-auth/upstream-auth.ts sources: new Map':
    'the credentials of the channels, by what decides about them',
  'lambdas/platform/concurrency.ts last: let': 'a queue of turns without values',
  'lambdas/platform/secrets.ts cache: new Map': 'the secrets of the deployment, by their ARN',
  'lambdas/platform/secrets.ts ownSecret: once': 'a random secret of the process, which seals cursors',
  'lambdas/platform/telemetry/logger.ts logger: new Logger': 'no field is appended to it: each line has its own',
  'lambdas/platform/telemetry/measures.ts observer: let': 'set once, by the local host',
  'lambdas/platform/telemetry/measures.ts metrics: once': 'numbers are added and written in one turn',
  'lambdas/platform/telemetry/measures.ts areDisabled: once': 'a variable of the environment',
  'lambdas/upstream/measures.ts observer: let': 'set once, by the local host',
  'lambdas/upstream/tokens/bound-input-tokens.ts longTexts: new Places': 'a number of free places',
  'lambdas/upstream/tokens/count-tokens.ts PIECES: stateful pattern': 'read by matchAll, which copies it',
  'lambdas/upstream/tokens/bound-input-tokens.ts readBundledRanks: once': 'the vocabulary of the tokenizer',
  'lambdas/core/catalogue/hidden-fields.ts made: new WeakMap':
    'the hidden fields of each configuration, as long as it lives',
  'lambdas/core/allowed-fields.ts extended: new WeakMap': 'the fields of each channel, as long as its configuration',
  'lambdas/core/api/ignored-fields.ts LEXEME: stateful pattern': 'read by matchAll, which copies it',
  'lambdas/core/pricing/relay-cost.ts knownRates: new WeakMap': 'the rates of each price, as long as its configuration',
  'lambdas/core/pricing/usage.ts knownDays: new Map': 'the names of at most 16 days',
  'lambdas/core/relay/sse-events.ts BLANK_LINE: stateful pattern': 'set before each use, which ends in one turn',
  'lambdas/core/relay/sse-events.ts UNSHOWN: stateful pattern': 'used by replaceAll, which begins anew',
  'lambdas/core/relay/sse-events.ts LINE: stateful pattern': 'set before each use, which ends in one turn',
  'lambdas/core/redaction.ts CONTROL: stateful pattern': 'used by replaceAll, which begins anew',
  'lambdas/core/redaction.ts SECRETS: stateful pattern': 'used by replace, which begins anew',
  'lambdas/core/redaction.ts NOT_PRINTABLE: stateful pattern': 'used by replaceAll, which begins anew',
  'lambdas/middleware/caller-context.ts openCallerContext: once':
    'keys by their digest, 5,000 at most; rates of 1,000 keys',
  'lambdas/relay/relay-context.ts openRelayContext: once':
    'writers of tenants that were busy lately; breakers of channels',
}

/** The files that a process of the relay server, or the relay front of the local host, loads. */
async function reachable(entryPoints: readonly string[]): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [...entryPoints],
    bundle: true,
    format: 'esm',
    metafile: true,
    outdir: 'nowhere',
    packages: 'external',
    platform: 'node',
    write: false,
  })
  return Object.keys(metafile.inputs).filter((path) => path.endsWith('.ts'))
}

/** A value of a module that could keep something from one request to the next. */
type ModuleState = {
  /** Such as `cache`; of a class `Name.field`. */
  readonly name: string
  /** Why it could: `let`, `new Map`, `once`, `empty`, `stateful pattern` or `static`. */
  readonly kind: string
}

/** Made anew, these keep nothing, or nothing that code could change. */
const HARMLESS = new Set(['RegExp', 'TextEncoder', 'TextDecoder', 'URL'])

/** Types through which nobody changes a value. */
const READ_ONLY = new Set(['ReadonlyMap', 'ReadonlySet', 'Readonly'])

/** A node of swc's tree, as far as it is read here. */
type Node = {
  readonly type: string
  readonly kind?: string
  readonly body?: unknown
  readonly declaration?: Node
  readonly declarations?: readonly Node[]
  readonly id?: Node
  readonly identifier?: Node
  readonly value?: unknown
  readonly init?: Node | null
  readonly typeAnnotation?: Node | null
  readonly typeName?: Node
  readonly op?: string
  readonly callee?: Node
  readonly expression?: Node
  readonly elements?: readonly unknown[]
  readonly properties?: readonly unknown[]
  readonly flags?: string
  readonly isStatic?: boolean
  readonly key?: Node
}

/**
 * The state of a module in the order of its source: variables, caches and other objects that are made when it is loaded, values that are
 * made once, patterns that remember where they stopped, and static fields. Objects that no code can change are left out.
 * @throws what swc throws for a file that is not TypeScript.
 */
function readModuleState(content: string): readonly ModuleState[] {
  const { body } = parseSync(content, { syntax: 'typescript', target: 'es2024' }) as unknown as { body: Node[] }
  return body.flatMap((item) => stateOf(item.type === 'ExportDeclaration' ? (item.declaration ?? item) : item))
}

function stateOf(item: Node): readonly ModuleState[] {
  if (item.type === 'VariableDeclaration') {
    return (item.declarations ?? []).flatMap((declaration) => {
      const kind = item.kind === 'const' ? kindOf(declaration) : 'let'
      return kind === undefined ? [] : [{ name: String(declaration.id?.value), kind }]
    })
  }
  if (item.type === 'ClassDeclaration' && Array.isArray(item.body)) {
    const fields = (item.body as Node[]).filter(({ isStatic, type }) => isStatic === true && /Property$/.test(type))
    return fields.map(({ key }) => ({ name: `${item.identifier?.value}.${nameOf(key)}`, kind: 'static' }))
  }
  return []
}

function nameOf(key: Node | undefined): string {
  return String(key?.value ?? (key?.id as Node | undefined)?.value)
}

function kindOf({ id, init }: Node): string | undefined {
  const made = unwrapped(init ?? undefined)
  const type = id?.typeAnnotation?.typeAnnotation
  const isReadOnly =
    READ_ONLY.has(String(type?.typeName?.value)) || type?.op === 'readonly' || init?.type === 'TsConstAssertion'
  if (made === undefined || isReadOnly) {
    return undefined
  }
  switch (made.type) {
    case 'NewExpression':
      return HARMLESS.has(String(made.callee?.value)) ? undefined : `new ${made.callee?.value}`
    case 'CallExpression':
      return made.callee?.value === 'once' ? 'once' : undefined
    case 'ArrayExpression':
      return made.elements?.length === 0 ? 'empty' : undefined
    case 'ObjectExpression':
      return made.properties?.length === 0 ? 'empty' : undefined
    case 'RegExpLiteral':
      return /[gy]/.test(made.flags ?? '') ? 'stateful pattern' : undefined
    default:
      return undefined
  }
}

/** Without `as const`, `satisfies` and parentheses. */
function unwrapped(node: Node | undefined): Node | undefined {
  const wrappers = ['TsAsExpression', 'TsSatisfiesExpression', 'ParenthesisExpression']
  return node !== undefined && wrappers.includes(node.type) ? unwrapped(node.expression) : node
}

describe('the modules of the relay server', () => {
  it('keep nothing but what is listed here, each with the reason why no request sees another one', async () => {
    const files = await reachable(['lambdas/relay-server/main.ts', 'lib/local/relay-front.ts'])
    const found = files.flatMap((path) =>
      readModuleState(readFileSync(join(ROOT, path), 'utf8')).map(({ name, kind }) => `${path} ${name}: ${kind}`),
    )
    expect(found.toSorted()).toEqual(Object.keys(KEPT).toSorted())
  })
})

describe('readModuleState', () => {
  it.each([
    ['let last = 1', 'last: let'],
    ['export const cache = new Map<string, string>()', 'cache: new Map'],
    ['const context = once(() => open())', 'context: once'],
    ['const seen: string[] = []', 'seen: empty'],
    ['const kept = {} as Record<string, string>', 'kept: empty'],
    ['const WORD = /x/g', 'WORD: stateful pattern'],
    ['export class Pool { static open = 0 }', 'Pool.open: static'],
    ['class Pool { static #open = 0 }', 'Pool.open: static'],
  ])('finds the state of %s', (content, expected) => {
    expect(readModuleState(content).map(({ name, kind }) => `${name}: ${kind}`)).toEqual([expected])
  })

  it.each([
    'const SIZE = 10',
    'const NAMES: ReadonlySet<string> = new Set(["a"])',
    'const NONE: readonly string[] = []',
    'const NONE = [] as const',
    'const WORD = /x/i',
    'const encoder = new TextEncoder()',
    'export function count() { let sum = 0; return sum }',
    'class Pool { open = 0 }',
  ])('finds none in %s', (content) => {
    expect(readModuleState(content)).toEqual([])
  })
})
