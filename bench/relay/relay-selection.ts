import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { UsageError } from '../../lib/terminal/usage-error.ts'
import type { Run } from './case-medians.ts'
import { RELAY_CASES, type RelayCase } from './relay-cases.ts'
import { TARGETS, type TargetName } from './relay-targets.ts'

/** What of the relay is measured, by the options of the command line; everything without them. */
export type RelayOptions = {
  /** Names of cases. */
  readonly cases?: readonly string[] | undefined
  /** Names of targets. */
  readonly targets?: readonly string[] | undefined
  readonly rounds?: string | undefined
  /** A file of earlier runs that the report counts too, so that a long measurement can be taken in parts. */
  readonly runsFile?: string | undefined
}

/** The same, checked. */
export type RelaySelection = {
  readonly cases: readonly RelayCase[]
  readonly targets: readonly TargetName[]
  readonly rounds: number | undefined
}

const ROUNDS_MAX = 20

/** @throws UsageError for a name or a number that makes no sense. */
export function selectRelay({ cases = [], targets = [], rounds }: RelayOptions): RelaySelection {
  const caseNames = RELAY_CASES.map(({ name }) => name)
  requireKnown('case', cases, caseNames)
  requireKnown('target', targets, TARGETS)
  const count = rounds === undefined ? undefined : Number(rounds)
  if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= ROUNDS_MAX)) {
    throw new UsageError(`--rounds is a number from 1 to ${ROUNDS_MAX}`)
  }
  return {
    cases: RELAY_CASES.filter(({ name }) => cases.length === 0 || cases.includes(name)),
    targets: TARGETS.filter((name) => targets.length === 0 || targets.includes(name)),
    rounds: count,
  }
}

function requireKnown(kind: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw new UsageError(`no ${kind} ${unknown}; one of: ${known.map((name) => `"${name}"`).join(', ')}`)
  }
}

/** The runs of a measurement; with a file those that it has already, and each new one is added to the file. */
export class RunLog {
  readonly runs: Run[]
  readonly #file: string | undefined

  constructor(file: string | undefined) {
    this.#file = file
    this.runs = file === undefined || !existsSync(file) ? [] : readRuns(file)
  }

  add(run: Run): void {
    this.runs.push(run)
    if (this.#file !== undefined) {
      appendFileSync(this.#file, `${JSON.stringify(run)}\n`)
    }
  }
}

function readRuns(file: string): Run[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Run)
}
