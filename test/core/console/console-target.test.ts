import { describe, expect, it } from 'vitest'
import { isConsoleTarget } from '#core/console/console-target.ts'

describe('isConsoleTarget', () => {
  it.each([
    '/console',
    '/console?tenant=acme',
    '/console/videos?status=failed&model=famB-1.1-t2v&created_after=1795263797',
    '/console/videos/01980000-0000-7000-8000-000000000000?tenant=acme',
    '/console/channels?search=a+b%2Fc%3F',
    '/console/tenants/%F0%9F%8E%A5',
  ])('takes %s', (target) => {
    expect(isConsoleTarget(target)).toBe(true)
  })

  it.each([
    '',
    '/',
    'console/videos',
    'overview',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/console',
    'javascript:alert(1)',
    '/console.evil.example',
    '/console@evil.example',
    '/consoles',
    '/console//evil.example',
    '/console/../admin/v1/session',
    '/console/%2e%2e/v1/models',
    '/console/.%2E/v1',
    '/console/./videos',
    '/console\\..\\v1',
    '/console/videos#page=x',
    '/console/videos?a="><script>',
    '/console/videos?a=b c',
    '/console\n/videos',
    '\t/console',
    ' /console',
    '/console/videos\u0000',
    `/console/${'a'.repeat(1_000)}`,
  ])('refuses %j', (target) => {
    expect(isConsoleTarget(target)).toBe(false)
  })
})
