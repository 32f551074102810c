import { describe, expect, it } from '@jest/globals'
import { committedContent, GENERATED_FILES } from '../../lib/openapi/generated-files.ts'

describe('a generated file', () => {
  it.each(GENERATED_FILES)('$path is what its sources say (else: npm run $command)', (file) => {
    expect(committedContent(file) === file.content()).toBe(true)
  })
})
