import { expect, it } from 'vitest'
import { MEASURES } from '#core/telemetry/measures.ts'
import { UPSTREAM_ERROR_CLASSES, upstreamErrorMeasure } from '#core/telemetry/upstream-error-class.ts'

it.each(UPSTREAM_ERROR_CLASSES)('upstream-error-class: errors of the class %s are counted', (errorClass) => {
  expect(MEASURES[upstreamErrorMeasure(errorClass)]).toBe('Count')
})
