import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** Ticks of one processor since the machine started. */
type ProcessorTime = { readonly all: number; readonly idle: number }

/** Of every processor, from `/proc/stat` (proc(5)): the first eight fields make up all time, idle and iowait the idle part. */
export function processorTimes(): readonly ProcessorTime[] {
  return readProcessorTimes(readFileSync('/proc/stat', 'utf8'))
}

/** Reads the text of `/proc/stat`. */
export function readProcessorTimes(text: string): readonly ProcessorTime[] {
  return text
    .split('\n')
    .filter((line) => /^cpu\d/.test(line))
    .map((line) => {
      const [user = 0, nice = 0, system = 0, idle = 0, ioWait = 0, irq = 0, softIrq = 0, steal = 0] = line
        .split(' ')
        .slice(1)
        .map(Number)
      return { all: user + nice + system + idle + ioWait + irq + softIrq + steal, idle: idle + ioWait }
    })
}

/** How busy each processor was between two looks, 0 to 1. */
export function busyShares(before: readonly ProcessorTime[], after: readonly ProcessorTime[]): number[] {
  return after.map(({ all, idle }, index) => {
    const { all: allBefore = 0, idle: idleBefore = 0 } = before[index] ?? {}
    return all === allBefore ? 0 : 1 - (idle - idleBefore) / (all - allBefore)
  })
}

const LOOK_MILLISECONDS = 500
const IDLE_SHARE_MAX = 0.08

/** Waits until no processor of the machine does much. @returns whether that came within the given time. */
export async function waitUntilMachineIdle(secondsMax: number): Promise<boolean> {
  const giveUpAt = performance.now() + secondsMax * 1000
  while (performance.now() < giveUpAt) {
    const before = processorTimes()
    await delay(LOOK_MILLISECONDS)
    if (Math.max(...busyShares(before, processorTimes())) < IDLE_SHARE_MAX) {
      return true
    }
  }
  return false
}
