import { ProgressBar } from '../terminal/progress-bar.ts'
import type { SmokeReport } from './run-smoke.ts'
import type { SmokeObserver, StepVerdict } from './step-runner.ts'

const NAME_WIDTH = 12

const MARKS = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const

/** Seconds that a video takes, roughly; the bar is a guess. */
const EXPECTED_SECONDS = 45

/** Tells a person what happens while it happens. */
export function printingObserver(): SmokeObserver {
  let bar: ProgressBar | undefined
  return {
    announce: (text) => console.log(`\n${text}\n`),
    progress(status) {
      bar ??= new ProgressBar(EXPECTED_SECONDS)
      bar.draw(status)
    },
    end(step) {
      bar?.end()
      bar = undefined
      console.log(lineOf(step))
    },
  }
}

/** One step for a person to read: verdict, name, what was found, milliseconds; a second line when there is something to look at. */
export function lineOf({ name, verdict, milliseconds, text, lookAt }: StepVerdict): string {
  const time = verdict === 'skipped' ? '' : `  (${milliseconds} ms)`
  const hint = lookAt === undefined ? '' : `\n     ${' '.repeat(NAME_WIDTH)}look at: ${lookAt}`
  return `${MARKS[verdict]} ${name.padEnd(NAME_WIDTH)}${text}${time}${hint}`
}

/** The verdict of all: the last line. */
export function verdictLine({ ok, steps }: SmokeReport): string {
  const passed = steps.filter(({ verdict }) => verdict === 'passed').length
  return `\n${ok ? 'passed' : 'FAILED'}: ${passed} of ${steps.length} steps`
}
