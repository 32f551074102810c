import { readFileSync } from 'node:fs'
import { isSeq, LineCounter, parseDocument, visit } from 'yaml'
import type * as z from 'zod'
import { type GatewayConfig, gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'

/** Every problem of a configuration file in one text: where it stands, what is wrong, what is allowed. */
export class GatewayConfigError extends Error {
  override readonly name = 'GatewayConfigError'
}

type Environment = Readonly<Record<string, string | undefined>>

type LoadOptions = {
  readonly file: string
  readonly environment: Environment
  /** `synth` leaves out channels whose upstream is a simulator: a deployment has none. */
  readonly mode: 'local' | 'synth'
}

/**
 * Reads, fills in and validates `config/gateway.yaml` (JSON is YAML too).
 * @throws GatewayConfigError with one line per problem.
 */
export function loadGatewayConfig(options: LoadOptions): { config: GatewayConfig; warnings: string[] } {
  const lines = new LineCounter()
  const document = parseDocument(readText(options.file), { lineCounter: lines })
  const [syntaxError] = document.errors
  if (syntaxError !== undefined) {
    throw new GatewayConfigError(`${options.file}: ${syntaxError.message}`)
  }
  const problems = fillInVariables(document, options.environment)
  const warnings = options.mode === 'synth' ? dropSimulatorChannels(document) : []
  const parsed = gatewayConfigSchema.safeParse(document.toJS())
  if (parsed.success && problems.length === 0) {
    return { config: parsed.data, warnings }
  }
  const issues = parsed.success ? [] : parsed.error.issues.flatMap(flattenIssue)
  const lineOf = (path: PropertyKey[]) => {
    for (let length = path.length; length > 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true)
      if (hasRange(node)) {
        return lines.linePos(node.range[0]).line
      }
    }
    return 1
  }
  const described = issues.map(({ path, message }) => `${options.file}:${lineOf(path)} ${formatPath(path)}: ${message}`)
  throw new GatewayConfigError(`the configuration is not valid\n${[...problems, ...described].map((line) => `  ${line}`).join('\n')}`)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new GatewayConfigError(`cannot read the configuration file ${file}`, { cause: error })
  }
}

const VARIABLE = /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g

/** Fills `${NAME}` and `${NAME:-default}` in every string value but `api_key`, whose name must survive; lists what is unset. */
function fillInVariables(document: ReturnType<typeof parseDocument>, environment: Environment): string[] {
  const problems: string[] = []
  visit(document, {
    Pair(_, pair) {
      return String(pair.key) === 'api_key' ? visit.SKIP : undefined
    },
    Scalar(_, node) {
      if (typeof node.value !== 'string') {
        return
      }
      node.value = node.value.replace(VARIABLE, (whole, name: string, fallback: string | undefined) => {
        const value = environment[name] || fallback
        if (value === undefined) {
          problems.push(`\${${name}} is used but ${name} is not set; set it or write \${${name}:-default}`)
          return whole
        }
        return value
      })
    },
  })
  return problems
}

function dropSimulatorChannels(document: ReturnType<typeof parseDocument>): string[] {
  const channels = document.get('channels')
  if (!isSeq(channels)) {
    return []
  }
  const isSimulator = (index: number) => document.getIn(['channels', index, 'base_url']) === 'simulator'
  const dropped = channels.items.flatMap((_, index) => (isSimulator(index) ? [index] : []))
  const warnings = dropped.map(
    (index) => `channel ${document.getIn(['channels', index, 'id'])} has no upstream (base_url is simulator) and is left out`,
  )
  channels.items = channels.items.filter((_, index) => !dropped.includes(index))
  return warnings
}

type FlatIssue = { path: PropertyKey[]; message: string }

/** A union reports its branches inside one issue; the branch that came furthest says what the writer meant. */
function flattenIssue(issue: z.core.$ZodIssue): FlatIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    return [{ path: issue.path, message: issue.message }]
  }
  const depth = (branch: z.core.$ZodIssue[]) => Math.max(...branch.map((each) => each.path.length))
  const [best = []] = issue.errors.toSorted((left, right) => depth(right) - depth(left))
  return best.flatMap(flattenIssue).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

/** `channels[0].poll.first_seconds`. */
function formatPath(path: PropertyKey[]): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${String(part)}`)).join('') || '(file)'
}
