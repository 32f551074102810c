import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { identitySettings } from '#core/catalogue/identity-settings.ts'
import { meetsConditions } from '#core/claims.ts'
import { matchingRule } from '#core/identity.ts'

const page = readFileSync('docs/identity.md', 'utf8')

function blocks(text: string, language: string): string[] {
  return Array.from(text.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs')), ([, block = '']) => block)
}

/** Sections with an example of an issuer, and the claims of one of its tokens. */
const EXAMPLES = page.split('\n## ').flatMap((section) => {
  const [settings, ...others] = blocks(section, 'yaml')
  const [claims] = blocks(section, 'json')
  const [title = ''] = section.split('\n')
  return settings === undefined || claims === undefined || others.length > 0 ? [] : [{ title, settings, claims }]
})

describe('the examples of issuers', () => {
  it('are of GitHub Actions, Kubernetes, IAM, Entra and Okta', () => {
    const names = ['GitHub Actions', 'Kubernetes', 'An IAM role', 'Microsoft Entra ID', 'Okta']
    expect(EXAMPLES.map(({ title }) => title)).toEqual(names)
  })

  it.each(EXAMPLES)(
    'of $title are valid, and their tokens meet their rules by each condition',
    ({ settings, claims }) => {
      const { issuers } = identitySettings.parse({ issuers: [parse(settings)] })
      const [rule] = issuers[0]?.rules ?? []
      const token = parse(claims)
      expect(matchingRule(issuers[0]?.rules ?? [], token)).toBe(rule)
      for (const [name, condition] of Object.entries(rule?.when ?? {})) {
        expect(meetsConditions({ [name]: condition }, { ...token, [name]: 'other', 'kubernetes.io': {} })).toBe(false)
      }
    },
  )

  it('at the top are a whole configuration', () => {
    const [first = ''] = blocks(page, 'yaml')
    expect(identitySettings.parse(parse(first).identity).issuers).toHaveLength(1)
  })
})
