import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { LONGEST } from './longest-first.ts'

it.each(LONGEST)('the file that begins early exists: %s', (file) => {
  expect(existsSync(file)).toBe(true)
})
