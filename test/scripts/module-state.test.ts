import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { readModuleState } from '../../scripts/module-state.ts'
import { readSourceFacts } from '../../scripts/source-facts.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** One process serves many requests at once. Everything that its modules keep, and why no request sees another one's. */
const KEPT: Readonly<Record<string, string>> = {
  'lambdas/adapters/aws/aws-endpoint.ts kept: new Map': 'one url for each of two services',
  'lambdas/adapters/aws/call-aws-service.ts httpClient: once': 'connections; a URL for each service',
  'lambdas/adapters/aws/sign-request.ts signingKeys: new RecentValues':
    'the last 8 keys, of the credentials of the process',
  'lambdas/adapters/next-turn.ts last: let': 'a queue of turns without values',
  'lambdas/adapters/secrets/secret-reader.ts cache: new Map': 'the secrets of the deployment, by their ARN',
  'lambdas/adapters/telemetry/logger.ts logger: new Logger': 'no field is appended to it: each line has its own',
  'lambdas/adapters/telemetry/measure-observer.ts observer: let': 'set once, by the local host',
  'lambdas/adapters/telemetry/measure.ts metrics: once': 'numbers are added and written in one turn',
  'lambdas/adapters/telemetry/measure.ts areDisabled: once': 'a variable of the environment',
  'lambdas/adapters/telemetry/upstream-observer.ts observer: let': 'set once, by the local host',
  'lambdas/adapters/tokens/bound-input-tokens.ts longTexts: new Places': 'a number of free places',
  'lambdas/adapters/tokens/count-tokens.ts PIECES: stateful pattern': 'read by matchAll, which copies it',
  'lambdas/adapters/tokens/read-ranks.ts readRanks: once': 'the vocabulary of the tokenizer',
  'lambdas/core/json/json-bounds.ts STRUCTURE: stateful pattern': 'set before each use, which ends in one turn',
  'lambdas/core/json/json-scan.ts COLON: stateful pattern': 'set before each use, which ends in one turn',
  'lambdas/core/parameters/passing-fields.ts extended: new WeakMap':
    'the fields of each channel, as long as its configuration',
  'lambdas/core/parameters/prefers-strict.ts LEXEME: stateful pattern': 'read by matchAll, which copies it',
  'lambdas/core/quota/token-rates.ts knownRates: new WeakMap': 'the rates of each price, as long as its configuration',
  'lambdas/core/quota/usage-counter.ts knownDays: new Map': 'the names of at most 16 days',
  'lambdas/core/relay/chat-stream.ts FINISH_REASON: stateful pattern': 'used by match, which begins anew',
  'lambdas/core/relay/generated-choices.ts GENERATED: stateful pattern': 'read by matchAll, which copies it',
  'lambdas/core/relay/sse-events.ts BLANK_LINE: stateful pattern': 'set before each use, which ends in one turn',
  'lambdas/core/relay/sse-events.ts LINE: stateful pattern': 'set before each use, which ends in one turn',
  'lambdas/core/telemetry/log-word.ts NOT_PRINTABLE: stateful pattern': 'used by replaceAll, which begins anew',
  'lambdas/middleware/caller-context.ts openCallerContext: once':
    'keys by their digest, 5,000 at most; rates of 1,000 keys',
  'lambdas/relay/relay-context.ts openRelayContext: once':
    'writers of tenants that were busy lately; breakers of channels',
}

/** The files that a process of the relay server, or the relay front of the local host, loads. */
function reachable(entries: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  const left = [...entries]
  for (let path = left.pop(); path !== undefined; path = left.pop()) {
    if (!seen.has(path) && path.endsWith('.ts')) {
      seen.add(path)
      left.push(...readSourceFacts(path, contentOf(path), packageJson.imports).imports)
    }
  }
  return [...seen].toSorted()
}

function contentOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

describe('the modules of the relay server', () => {
  it('keep nothing but what is listed here, each with the reason why no request sees another one', () => {
    const found = reachable(['lambdas/relay-server/main.ts', 'lib/local/relay-front.ts']).flatMap((path) =>
      readModuleState(contentOf(path)).map(({ name, kind }) => `${path} ${name}: ${kind}`),
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
    'const WORD = /x/i',
    'const encoder = new TextEncoder()',
    'export function count() { let sum = 0; return sum }',
    'class Pool { open = 0 }',
  ])('finds none in %s', (content) => {
    expect(readModuleState(content)).toEqual([])
  })
})
