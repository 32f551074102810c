import { readFileSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readRanks } from '#adapters/tokens/read-ranks.ts'
import { RANKS_FILE, ranks } from './written-ranks.ts'

describe('read-ranks', () => {
  it('reads the megabyte of JSON once per process', () => {
    expect(statSync(RANKS_FILE).size).toBeLessThan(1_000_000)
    expect(Object.keys(JSON.parse(readFileSync(RANKS_FILE, 'utf8')))).toStrictEqual(['encoding', 'bytes', 'lengths'])
    expect(readRanks()).toBe(ranks)
  })
})
