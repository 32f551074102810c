import { describe, expect, it } from '@jest/globals'
import { requestIdOf } from '#middleware/api-event.ts'
import { apiEvent } from './api-exchange.ts'

const idOf = (requestId: string) => {
  const event = apiEvent({})
  return requestIdOf({ requestContext: { ...event.requestContext, requestId } }, { awsRequestId: 'of-lambda' })
}

describe('requestIdOf', () => {
  it('is that of API Gateway, which a client may have chosen', () => {
    expect(idOf('chosen-1')).toBe('chosen-1')
  })

  it.each(['', 'two words', 'line\nbreak', 'ümlaut', 'x'.repeat(129)])(
    'is that of Lambda where it could not be sent on as a header: %j',
    (requestId) => {
      expect(idOf(requestId)).toBe('of-lambda')
    },
  )
})
