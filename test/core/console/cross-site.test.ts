import { describe, expect, it } from 'vitest'
import { consoleSite } from '#core/console/console-site.ts'
import { crossSiteProblem, type SenderFacts } from '#core/console/cross-site.ts'

const SITE = consoleSite('https://console.example.com')

const OWN_PAGE: SenderFacts = {
  method: 'POST',
  origin: 'https://console.example.com',
  fetchSite: 'same-origin',
  consoleHeader: '1',
  contentType: 'application/json',
  host: 'console.example.com',
}

describe('a request that changes something', () => {
  it.each<[string, Partial<SenderFacts>]>([
    ['a page of the console', {}],
    ['a browser without Sec-Fetch-Site', { fetchSite: undefined }],
    ['a page that sends no body', { contentType: undefined }],
    ['a page that names the charset', { contentType: 'Application/JSON; charset=utf-8' }],
  ])('is let through from %s', (_, facts) => {
    expect(crossSiteProblem({ ...OWN_PAGE, ...facts }, SITE)).toBeUndefined()
  })

  it.each<[string, Partial<SenderFacts>]>([
    ['no Origin', { origin: undefined }],
    ['the Origin of another site', { origin: 'https://evil.example' }],
    ['the Origin null', { origin: 'null' }],
    ['an Origin that begins like ours', { origin: 'https://console.example.com.evil.example' }],
    ['our Origin over http', { origin: 'http://console.example.com' }],
    ['no header of the console', { consoleHeader: undefined }],
    ['another value of that header', { consoleHeader: 'true' }],
    ['Sec-Fetch-Site cross-site', { fetchSite: 'cross-site' }],
    ['Sec-Fetch-Site same-site', { fetchSite: 'same-site' }],
    ['Sec-Fetch-Site none', { fetchSite: 'none' }],
    ['a body of the type of a form', { contentType: 'application/x-www-form-urlencoded' }],
    ['a body of plain text', { contentType: 'text/plain' }],
    ['a body of a multipart form', { contentType: 'multipart/form-data; boundary=x' }],
    ['a body without a type', { contentType: '' }],
    ['a type that begins like JSON', { contentType: 'application/json-patch+json' }],
  ])('is refused with %s, whatever its method', (_, facts) => {
    for (const method of ['POST', 'PATCH', 'DELETE', 'PUT', 'post']) {
      expect(crossSiteProblem({ ...OWN_PAGE, method, ...facts }, SITE)).toEqual(expect.any(String))
    }
  })
})

describe('a request that changes nothing', () => {
  it('may come from anywhere: no other origin can read its response', () => {
    const facts = { ...OWN_PAGE, method: 'GET', origin: undefined, fetchSite: 'cross-site', consoleHeader: undefined }
    expect(crossSiteProblem(facts, SITE)).toBeUndefined()
  })
})
