import { describe, expect, it } from 'vitest'
import { price } from '#core/catalogue/price.ts'

describe('a price in the configuration', () => {
  it.each(['0', '0.14', '3', '0.000001', '1000000000'])('may be %s', (text) => {
    expect(price.parse(text)).toBe(text)
  })

  it.each([0.14, '', '-1', '.5', '1.', '0.0000001', '1e3', ' 1', '1000000000.000001', '99999999999', null])(
    'must be a decimal string with at most six places, not %p',
    (value) => {
      expect(price.safeParse(value).error?.issues[0]?.message).toContain('decimal string in credits')
    },
  )
})
