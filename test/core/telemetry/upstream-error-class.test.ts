import { expect, it } from 'vitest'
import { numberOfErrorClass, UPSTREAM_ERROR_CLASSES } from '#core/telemetry/upstream-error-class.ts'

it('upstream-error-class: each class has a number of its own, from one', () => {
  expect(UPSTREAM_ERROR_CLASSES.map(numberOfErrorClass)).toEqual([1, 2, 3, 4, 5, 6, 7])
})
