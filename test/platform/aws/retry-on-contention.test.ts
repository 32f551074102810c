import { describe, expect, it } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import { AwsConnectionError, AwsServiceError } from '#platform/aws/call-aws-service.ts'
import { isContention, retryOnContention } from '#platform/aws/retry-on-contention.ts'

const named = (name: string, status = 400) => new AwsServiceError(status, undefined, { __type: `x#${name}` })
const THROTTLED = named('ThrottlingException')

describe('isContention', () => {
  it.each([
    ['throttling', THROTTLED, true],
    ['an exceeded throughput', named('ProvisionedThroughputExceededException'), true],
    ['too many requests of an account', named('RequestLimitExceeded'), true],
    ['a conflict with a transaction', named('TransactionConflictException'), true],
    ['a transaction in progress', named('TransactionInProgressException'), true],
    ['a fault of the service', named('InternalServerError', 500), true],
    ['a broken connection', new AwsConnectionError('broken'), true],
    ['a wrong request', named('ValidationException'), false],
    ['missing rights', named('AccessDeniedException'), false],
    ['an error that no service made', new TypeError('undefined is not a function'), false],
    ['a thrown string', 'ThrottlingException', false],
  ])('includes %s: %#', (_, error, expected) => {
    expect(isContention(error)).toBe(expected)
  })
})

describe('retryOnContention', () => {
  const attempts = async (errors: readonly unknown[], isRetryable?: (error: unknown) => boolean) => {
    const pauses: number[] = []
    const left = [...errors]
    const request = async () => {
      if (left.length > 0) {
        throw left.shift()
      }
      return 'done'
    }
    const pause = async (milliseconds: number) => {
      pauses.push(milliseconds)
    }
    const options = isRetryable === undefined ? { clock: { pause } } : { clock: { pause }, isRetryable }
    const result = await retryOnContention(request, options).catch((error: unknown) => error)
    return { result, pauses }
  }

  it('pauses below bounds that double, and gives the result', async () => {
    const { result, pauses } = await attempts(Array(7).fill(THROTTLED))
    expect(result).toBe('done')
    expect(pauses).toHaveLength(7)
    expect(pauses.every((pause, index) => pause <= Math.min(800, 25 * 2 ** index))).toBe(true)
  })

  it('is unavailable after eight tries, with the last cause', async () => {
    const { result, pauses } = await attempts([...Array(7).fill(named('RequestLimitExceeded')), THROTTLED])
    expect(result).toBeInstanceOf(ServiceUnavailableError)
    expect(result).toMatchObject({ cause: THROTTLED })
    expect(pauses).toHaveLength(8)
  })

  it('is unavailable without another try once the process was suspended for five minutes', async () => {
    let now = 0
    let tries = 0
    const request = async () => {
      tries += 1
      throw THROTTLED
    }
    const sleep = (milliseconds: number) => async () => {
      now += milliseconds
    }
    for (const [pause, expected] of [
      [sleep(300_001), 1],
      [sleep(37_500), 8],
    ] as const) {
      tries = 0
      const clock = { nowMilliseconds: () => now, pause }
      await expect(retryOnContention(request, { clock })).rejects.toMatchObject({ cause: THROTTLED })
      expect(tries).toBe(expected)
    }
  })

  it('tries a conflict of many writers thirty times, and soon again', async () => {
    const conflict = named('TransactionConflictException')
    const crowd = async (errors: readonly unknown[]) => {
      const pauses: number[] = []
      const left = [...errors]
      const request = async () => {
        if (left.length > 0) {
          throw left.shift()
        }
        return 'done'
      }
      const clock = { pause: async (milliseconds: number) => void pauses.push(milliseconds) }
      const result = await retryOnContention(request, { clock, isCrowded: (error) => error === conflict }).catch(
        (error: unknown) => error,
      )
      return { result, pauses }
    }
    const served = await crowd([...Array(6).fill(THROTTLED), ...Array(29).fill(conflict)])
    expect(served.result).toBe('done')
    expect(served.pauses.slice(6, 24).every((pause) => pause <= 100)).toBe(true)
    const refused = await crowd(Array(100).fill(conflict))
    expect(refused.result).toMatchObject({ name: 'ServiceUnavailableError', cause: conflict })
    expect(refused.pauses).toHaveLength(30)
  })

  it('throws any other error at once', async () => {
    const refused = named('ValidationException')
    expect(await attempts([refused])).toEqual({ result: refused, pauses: [] })
  })

  it('goes by the rule of its caller, if there is one', async () => {
    const { result, pauses } = await attempts([named('ValidationException')], () => true)
    expect([result, pauses.length]).toEqual(['done', 1])
  })
})
