import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ROUTES } from '#core/api/routes.ts'
import { readExamples } from '../../lib/openapi/openapi-types.ts'

const files = readdirSync(new URL('../../lib/openapi/examples/', import.meta.url)).map((file) => file.slice(0, -5))

describe('examples', () => {
  it.each(files)('of %s have a summary and a value each', (name) => {
    const groups = Object.values(readExamples(name))
    expect(groups).not.toHaveLength(0)
    for (const example of groups.flatMap((group) => Object.values(group))) {
      expect(example).toEqual({ summary: expect.stringMatching(/\S/), value: expect.anything() })
    }
  })

  it('are of an operation or of the callback', () => {
    const names = [...ROUTES.map(({ operation }): string => operation), 'video-job-callback']
    expect(files.filter((file) => !names.includes(file))).toEqual([])
  })

  it('are none for an operation without a file', () => {
    expect(readExamples('no-such-operation')).toEqual({})
  })
})
