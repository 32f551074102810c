import { describe, expect, it } from 'vitest'
import { unprotectedSentence } from '../../lib/config/deletion-protection.ts'
import { readStageSettings } from '../../lib/config/stage-settings.ts'

const sentence = (context: Readonly<Record<string, unknown>>) =>
  unprotectedSentence(readStageSettings((name) => context[name]))

describe('a deployment that keeps its data', () => {
  it('is told to protect it from the next deployment on', () => {
    expect(sentence({ stage: 'prod' })).toBe(
      'Reelgate-prod is not protected against deletion, so that a failed first deployment can be repeated. From the next deployment on, use -c deletionProtection=true, or "deletionProtection": "true" in the context of cdk.json.',
    )
    expect(sentence({ stage: 'dev', retainData: 'true' })).toContain('Reelgate-dev is not protected')
  })

  it('is told nothing where it is protected, or keeps nothing', () => {
    expect(sentence({ stage: 'prod', deletionProtection: 'true' })).toBeUndefined()
    expect(sentence({ stage: 'prod', retainData: 'false' })).toBeUndefined()
    expect(sentence({})).toBeUndefined()
  })
})
