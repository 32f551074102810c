import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { pick } from './faults.ts'
import type { Scheduler } from './scheduler.ts'

export const CALLBACK_HOST = 'hooks.example'

type Channels = Parameters<typeof testCatalogue>[1]

/** Deployments that may follow one another while jobs run. */
const CHANNELS: readonly Channels[] = [
  { main: { max_open_jobs: 2 }, spare: { max_open_jobs: 2 } },
  { main: { max_open_jobs: 5 }, spare: { max_open_jobs: 5 } },
  { main: { max_open_jobs: 1 }, spare: { max_open_jobs: 1 } },
  // The channel that jobs may be running on leaves the configuration.
  { main: { id: 'other', max_open_jobs: 2 }, spare: { max_open_jobs: 1 } },
  { main: { max_open_jobs: 2, deadline_minutes: 3 }, spare: { deadline_minutes: 3 } },
]
const ALLOWLISTS = [[CALLBACK_HOST], [CALLBACK_HOST], [CALLBACK_HOST], [CALLBACK_HOST], []]
const PRICES = ['0.14', '0.14', '0.20', '0.01']

/** The catalogue of one deployment. */
export function drawCatalogue(scheduler: Scheduler): Catalogue {
  const price = pick(scheduler, PRICES)
  const { config } = testCatalogue()
  return testCatalogue(
    {
      submit_wait_seconds: 10,
      queue_minutes: 20,
      callback_allowlist: pick(scheduler, ALLOWLISTS),
      models: config.models.map((model) => {
        if (model.kind !== 'video' || model.billing !== 'per_second') {
          return model
        }
        return { ...model, prices: model.prices.map((row) => ({ ...row, price })) }
      }),
    },
    pick(scheduler, CHANNELS),
  )
}
