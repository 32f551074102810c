import { describe, expect, it } from 'vitest'
import { busyShares, readProcessorTimes } from '../../../bench/relay/machine-load.ts'

const BEFORE = 'cpu  300 0 0 700 0 0 0 0 0 0\ncpu0 100 0 0 400 0 0 0 0 0 0\ncpu1 200 0 0 300 0 0 0 0 0 0\nintr 1\n'
const AFTER = 'cpu  375 0 25 1025 75 0 0 0 0 0\ncpu0 150 0 25 600 25 0 0 0 9 9\ncpu1 225 0 0 425 50 0 0 0 0 0\nintr 1\n'

describe('how busy a processor was', () => {
  it('is what was neither idle nor waiting for a disk, for each of them', () => {
    expect(busyShares(readProcessorTimes(BEFORE), readProcessorTimes(AFTER))).toEqual([75 / 300, 25 / 200])
  })

  it('is nothing when no time has passed', () => {
    expect(busyShares(readProcessorTimes(BEFORE), readProcessorTimes(BEFORE))).toEqual([0, 0])
  })
})
