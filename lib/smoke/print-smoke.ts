import { ProgressBar } from '../terminal/progress-bar.ts'
import type { SmokeReport } from './run-smoke.ts'
import type { SmokeObserver, StepVerdict } from './step-runner.ts'

const NAME_WIDTH = 12

const MARKS = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' } as const

/** Rough duration of a video job. The progress bar is an estimate. */
const EXPECTED_SECONDS = 45

/** Prints the progress of the test to the console. */
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

/** Formats one step: verdict, name, result and milliseconds, and on a second line where to look, if known. */
export function lineOf({ name, verdict, milliseconds, text, lookAt }: StepVerdict): string {
  const time = verdict === 'skipped' ? '' : `  (${milliseconds} ms)`
  const hint = lookAt === undefined ? '' : `\n     ${' '.repeat(NAME_WIDTH)}look at: ${lookAt}`
  return `${MARKS[verdict]} ${name.padEnd(NAME_WIDTH)}${text}${time}${hint}`
}

/** Formats the last line: the verdict of the whole test. */
export function verdictLine({ ok, steps }: SmokeReport): string {
  const passed = steps.filter(({ verdict }) => verdict === 'passed').length
  return `\n${ok ? 'passed' : 'FAILED'}: ${passed} of ${steps.length} steps`
}
