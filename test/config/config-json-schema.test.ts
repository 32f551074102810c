// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is what an operator writes.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { configJsonSchema } from '../../lib/config/load-gateway-config.ts'
import { SHIPPED_FILE } from '../core/shipped-catalogue.ts'

const shipped: unknown = parse(readFileSync(SHIPPED_FILE, 'utf8'))

function accepts(value: unknown): boolean {
  return z.fromJSONSchema(JSON.parse(configJsonSchema())).safeParse(value).success
}

describe('config/gateway.schema.json', () => {
  it('is what the configuration schema generates today (npm run schema)', () => {
    const file = readFileSync(new URL('../../config/gateway.schema.json', import.meta.url), 'utf8')
    expect(file === configJsonSchema()).toBe(true)
  })

  it('accepts the shipped file as an editor sees it, variables not filled in', () => {
    expect(accepts(shipped)).toBe(true)
  })

  it('refuses what the gateway refuses', () => {
    expect(accepts({ ...Object(shipped), queue_minute: 60 })).toBe(false)
    expect(accepts({ ...Object(shipped), models: [] })).toBe(false)
    expect(accepts({ ...Object(shipped), submit_wait_seconds: '10' })).toBe(false)
  })

  it('accepts a variable wherever a text has a pattern, but not as part of a key', () => {
    expect(accepts({ ...Object(shipped), trusted_origins: ['${ORIGIN:-http://127.0.0.1:9400}'] })).toBe(true)
    const [channel] = Object(shipped).channels
    expect(accepts({ ...Object(shipped), channels: [{ ...channel, api_key: 'sk-${P1_API_KEY}' }] })).toBe(false)
  })
})
