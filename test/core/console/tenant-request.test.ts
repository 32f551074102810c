import { describe, expect, it } from 'vitest'
import { callbackSecretRequest, createTenantRequest } from '#core/console/tenant-request.ts'

describe('tenant-request', () => {
  it('limits the open jobs of a tenant where nothing is said', () => {
    expect(createTenantRequest.parse({ name: 'a' })).toEqual({ name: 'a', open_jobs_max: 10, budget: null })
  })

  it('refuses settings of a rotation without one', () => {
    expect(callbackSecretRequest.safeParse({ overlap_seconds: 1 }).success).toBe(false)
    expect(callbackSecretRequest.safeParse({ again: true }).success).toBe(false)
    expect(callbackSecretRequest.safeParse({ rotate: true, again: true, overlap_seconds: 1 }).success).toBe(true)
  })
})
