import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { originalPositionFor, TraceMap, traceSegment } from '@jridgewell/trace-mapping'
import { CommandFailedError } from '../failures.ts'
import type { Command } from './command.ts'

/** A position in deployed code. Lambda's own runtime is in `/var/runtime`. */
const FRAME = /(?:file:\/\/)?\/var\/task\/([\w.-]+\.mjs):(\d+):(\d+)/g

/** Prints a stack trace of deployed code with the positions in the source files. @throws CommandFailedError. */
export const stackTrace: Command = createStackTrace(() => readFileSync(process.stdin.fd, 'utf8'))

/** `stack-trace` over another input than the process's own. */
export function createStackTrace(readInput: () => string): Command {
  return {
    name: 'stack-trace',
    summary: 'show a stack trace from a log with positions in the source files',
    details: `Reads log lines, or a stack trace alone, from stdin. A log does not name the code that wrote it: the command takes the
bundle that has a call at each position of the trace, and says so when none has, or more than one. The hash of the deployed
bundle is in the name of the function's code in the stack's template, \`Code.S3Key\`.`,
    options: {
      maps: {
        value: 'DIRECTORY',
        summary: 'source maps that `cdk synth` or `cdk deploy` wrote; default: cdk.out/source-maps',
      },
      function: { value: 'FOLDER', summary: 'the function whose log it is, such as api/create-video-job' },
      bundle: { value: 'HASH', summary: 'the deployed bundle' },
    },
    examples: [
      'stack-trace --function api/create-video-job < log-line.json',
      'stack-trace --maps maps-of-prod < trace.txt',
    ],
    async run(_, values) {
      const maps = values.text('maps') ?? join('cdk.out', 'source-maps')
      const bundles = findBundles(maps, { folder: values.text('function'), hash: values.text('bundle') })
      const traces = readTraces(readInput()).map((trace) => locate(trace, { maps, bundles }))
      if (traces.length === 0) {
        throw new CommandFailedError('there is no stack trace of deployed code on stdin: none of it is at /var/task/')
      }
      return { json: { traces }, text: traces.map(({ bundle, stack }) => `${stack}\n(${bundle})`).join('\n\n') }
    },
  }
}

/** Directories of bundles below that of the maps. @throws CommandFailedError when there are none. */
function findBundles(
  maps: string,
  { folder = '**', hash = '*' }: { folder: string | undefined; hash: string | undefined },
): readonly string[] {
  const bundles = globSync(`${folder}/${hash}/index.mjs.map`, { cwd: maps }).map(dirname).sort()
  if (bundles.length === 0) {
    throw new CommandFailedError(`${maps} has no source maps of that function or bundle: \`npx cdk synth\` writes them`)
  }
  return bundles
}

/** Every stack trace of the input with a position in deployed code. */
function readTraces(input: string): readonly string[] {
  const plain: string[] = []
  const traces: string[] = []
  for (const line of input.split('\n')) {
    const logged = parseLogged(line)
    if (logged === undefined) {
      plain.push(line)
    } else {
      traces.push(...stacksOf(logged))
    }
  }
  return [...traces, plain.join('\n').trim()].filter((trace) => trace.search(FRAME) !== -1)
}

/** The JSON of a log line, which the time and the name of its stream may precede. */
function parseLogged(line: string): unknown {
  try {
    return JSON.parse(line.replace(/^[^{]*/, ''))
  } catch {
    return undefined
  }
}

/** The logger writes a stack as a string, Lambda as a list of lines; causes are nested. */
function stacksOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) {
    return []
  }
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'stack' ? [[inner].flat().join('\n')] : stacksOf(inner),
  )
}

type LocatedTrace = {
  /** The bundle, or the bundles in which the trace leads to the same positions. */
  readonly bundle: string
  readonly stack: string
}

/** @throws CommandFailedError when no bundle fits, or several fit and lead to different positions. */
function locate(trace: string, { maps, bundles }: { maps: string; bundles: readonly string[] }): LocatedTrace {
  const located = new Map<string, string[]>()
  for (const bundle of bundles) {
    const stack = translate(trace, join(maps, bundle))
    if (stack !== undefined) {
      located.set(stack, [...(located.get(stack) ?? []), bundle])
    }
  }
  const [first, ...others] = located
  if (first === undefined) {
    throw new CommandFailedError(
      `no bundle in ${maps} has a call at each position of the stack trace: another deployment or function wrote the log`,
    )
  }
  if (others.length > 0) {
    const fitting = [...located.values()].flat().join(', ')
    throw new CommandFailedError(
      `the stack trace fits several bundles; name one with --function or --bundle: ${fitting}`,
    )
  }
  return { stack: first[0], bundle: first[1].join(', ') }
}

/** A stack trace by the source maps of one bundle; undefined when the trace is not of this bundle. */
function translate(trace: string, directory: string): string | undefined {
  let frames = 0
  let exact = 0
  const stack = trace.replaceAll(FRAME, (frame, file: string, line: string, column: string) => {
    const position = sourceOf(join(directory, `${file}.map`), { line: Number(line), column: Number(column) - 1 })
    frames += 1
    exact += position?.isExact ? 1 : 0
    return position?.source ?? frame
  })
  return frames - exact <= frames * INLINED_MAX ? stack : undefined
}

/**
 * A call begins at a position of its own in the map, unless the minifier has inlined the call. More inlined calls than this
 * share of a trace mean that the trace is of another bundle.
 */
const INLINED_MAX = 1 / 3

const opened = new Map<string, TraceMap>()

/** @param position line from 1, column from 0. */
function sourceOf(file: string, position: { readonly line: number; readonly column: number }) {
  if (!existsSync(file)) {
    return undefined
  }
  const map = opened.get(file) ?? new TraceMap(readFileSync(file, 'utf8'))
  opened.set(file, map)
  const { source, line, column } = originalPositionFor(map, position)
  const isExact = traceSegment(map, position.line - 1, position.column)?.[0] === position.column
  return source === null ? undefined : { source: `${source}:${line}:${column + 1}`, isExact }
}
