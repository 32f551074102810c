import { expect, it } from 'vitest'
import { measure } from '#adapters/telemetry/measure.ts'
import { type Measured, observeMeasures } from '#adapters/telemetry/measure-observer.ts'

it('observeMeasures hears of everything that is measured from then on, also where no metrics are emitted', () => {
  const heard: Measured[] = []
  measure({ jobs_created: 1 })
  observeMeasures((values) => heard.push(values))
  measure({ relay_failed: 1, first_byte_milliseconds: undefined }, { model: 'm' })
  expect(heard).toEqual([{ relay_failed: 1, first_byte_milliseconds: undefined }])
})
