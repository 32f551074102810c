import { expect, it } from 'vitest'
import { progressWords } from '#web/core/progress-words.ts'

it.each([
  [null, null, ''],
  [40.9, null, ' 40 %'],
  [40, 12, ' 40 %, about 12 s left'],
  [91, 0, ' 91 %'],
  [5, 80, ' 5 %, about 1 min 20 s left'],
])('progressWords of %p percent and %p seconds are "%s"', (percent, eta_seconds, words) => {
  expect(progressWords({ percent, eta_seconds })).toBe(words)
})
