import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { REPOSITORY_ROOT } from '#aws/function-sources.ts'
import { readProjectContext } from '../../lib/config/project-context.ts'

const directory = mkdtempSync(join(tmpdir(), 'reelgate-project-'))
afterAll(() => rmSync(directory, { recursive: true }))

it('takes the settings of a deployment from cdk.json, as cdk does, and none of CDK’s own', () => {
  const context = { '@aws-cdk/core:flag': true, deletionProtection: 'true', apiReservedConcurrency: 5 }
  writeFileSync(join(directory, 'cdk.json'), JSON.stringify({ app: 'node bin/cdk.ts', context }))
  expect(readProjectContext(directory)).toEqual({ deletionProtection: 'true', apiReservedConcurrency: 5 })
})

it('finds no setting in the cdk.json that is shipped, nor where there is none', () => {
  expect(readProjectContext(REPOSITORY_ROOT)).toEqual({})
  expect(readProjectContext(join(directory, 'nowhere'))).toEqual({})
})
