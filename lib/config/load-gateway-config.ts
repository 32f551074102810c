import { readFileSync } from 'node:fs'
import { type Document, LineCounter, parseDocument } from 'yaml'
import type * as z from 'zod'
import { type GatewayConfig, gatewayConfigSchema } from '#core/catalogue/gateway-config.ts'
import { baseUrlWarnings } from './base-url-warnings.ts'
import { configIssueText } from './config-issue-text.ts'
import type { Environment } from './environment.ts'
import { type ConfigProblem, fillInVariables } from './fill-in-variables.ts'

/** All problems of a configuration file: where they are, what is wrong, and what is allowed. */
export class GatewayConfigError extends Error {
  override readonly name = 'GatewayConfigError'
}

type LoadOptions = {
  readonly file: string
  readonly environment: Environment
  /** `synth` leaves out channels with a simulated upstream, which a deployment does not have. */
  readonly mode: 'local' | 'synth'
}

export type LoadedConfig = {
  readonly config: GatewayConfig
  /** Ids of the channels that a deployment leaves out. */
  readonly leftOut: readonly string[]
  /** One per left-out channel, and one per value that is valid but probably wrong. */
  readonly warnings: string[]
}

/**
 * Reads `config/gateway.yaml` (or JSON, which is YAML), substitutes variables and validates it.
 * @throws GatewayConfigError with one line per problem.
 */
export function loadGatewayConfig(options: LoadOptions): LoadedConfig {
  const { file, environment, mode } = options
  const lines = new LineCounter()
  const document = readDocument(file, lines)
  const unset = fillInVariables(document, environment)
  const parsed = gatewayConfigSchema.safeParse(toValue(document, file), { error: configIssueText })
  if (parsed.success && unset.length === 0) {
    const loaded =
      mode === 'synth' ? withoutSimulators(parsed.data) : { config: parsed.data, leftOut: [], warnings: [] }
    return { ...loaded, warnings: [...loaded.warnings, ...baseUrlWarnings(loaded.config)] }
  }
  const problems = [...unset, ...(parsed.success ? [] : issuesBeyond(unset, parsed.error.issues))]
  const described = problems.map(
    ({ path, message }) => `  ${file}:${lineOf(document, lines, path)} ${formatPath(path)}: ${message}`,
  )
  throw new GatewayConfigError(`the configuration is not valid\n${described.join('\n')}`)
}

function readDocument(file: string, lines: LineCounter): Document {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new GatewayConfigError(`cannot read the configuration file ${file}`, { cause: error })
  }
  const document = parseDocument(text, { lineCounter: lines })
  const [syntaxError] = document.errors
  if (syntaxError !== undefined) {
    const { line } = lines.linePos(syntaxError.pos[0])
    throw new GatewayConfigError(`${file}:${line} not valid YAML: ${syntaxError.message}`, { cause: syntaxError })
  }
  return document
}

/** Resolves aliases. @throws GatewayConfigError for an alias without an anchor. */
function toValue(document: Document, file: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw new GatewayConfigError(`${file}: not valid YAML: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}

function withoutSimulators(config: GatewayConfig): LoadedConfig {
  const simulated = config.channels.filter((channel) => channel.base_url === 'simulator')
  return {
    config: { ...config, channels: config.channels.filter((channel) => channel.base_url !== 'simulator') },
    leftOut: simulated.map(({ id }) => id),
    warnings: simulated.map(({ id }) => `channel ${id} has no upstream (base_url is simulator) and is left out`),
  }
}

/** The issues of values whose variables are set; an unset variable has been reported. */
function issuesBeyond(unset: readonly ConfigProblem[], issues: readonly z.core.$ZodIssue[]): ConfigProblem[] {
  const reported = new Set(unset.map(({ path }) => formatPath(path)))
  return issues.flatMap(flattenIssue).filter(({ path }) => !reported.has(formatPath(path)))
}

/** A union reports its branches inside one issue; the branch that matched the deepest is most likely the one that was meant. */
function flattenIssue(issue: z.core.$ZodIssue): ConfigProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return [{ path: [...issue.path, ...issue.keys.slice(0, 1)], message: issue.message }]
  }
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    return [{ path: issue.path, message: issue.message }]
  }
  const depth = (branch: z.core.$ZodIssue[]) => Math.max(...branch.map((each) => each.path.length))
  const [best = []] = issue.errors.toSorted((left, right) => depth(right) - depth(left))
  return best.flatMap(flattenIssue).map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** The line of the value at a path; of the nearest enclosing block if the value is missing. */
function lineOf(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true)
    if (hasRange(node)) {
      return lines.linePos(node.range[0]).line
    }
  }
  return 1
}

function hasRange(node: unknown): node is { range: [number, number, number] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

/** `channels[0].poll.first_seconds`. */
function formatPath(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
  return parts.join('').replace(/^\./, '') || '(file)'
}
