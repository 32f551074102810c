import { RATE_PER_MINUTE_MAX } from '#core/limits.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { readEnd } from '../command-line/read-time.ts'

/** The models in `--models`; undefined if the option was not given. @throws UsageError for an empty list. */
export function readModels(values: CommandValues): readonly string[] | undefined {
  const models = values
    .text('models')
    ?.split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '')
  if (models?.length === 0) {
    throw new UsageError('--models is empty: name at least one model')
  }
  return models
}

/** The requests per minute in `--rate`; null for `none`, undefined if the option was not given. @throws UsageError. */
export function readRate(values: CommandValues): number | null | undefined {
  if (values.text('rate') === 'none') {
    return null
  }
  const ratePerMinute = values.count('rate')
  if (ratePerMinute !== undefined && ratePerMinute > RATE_PER_MINUTE_MAX) {
    throw new UsageError(`--rate ${ratePerMinute}: use at most ${RATE_PER_MINUTE_MAX}, or none`)
  }
  return ratePerMinute
}

/** The time in `--expires`, in Unix milliseconds; undefined if the option was not given. @throws UsageError. */
export function readExpiry(values: CommandValues, nowMilliseconds: number): number | undefined {
  const expires = values.text('expires')
  return expires === undefined ? undefined : readEnd('expires', expires, nowMilliseconds)
}
