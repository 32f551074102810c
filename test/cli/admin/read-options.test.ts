import { beforeAll, describe, expect, it } from '@jest/globals'
import { parseCredits, parseSignedCredits } from '#core/money.ts'
import { createWebhookSecret } from '#platform/callback-signature.ts'
import { generateApiKey } from '#store/keys/key-changes.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { CommandValues } from '../../../lib/cli/admin/command.ts'
import {
  findTenant,
  readAmount,
  readEnd,
  readName,
  readOverlap,
  readStart,
  readTenantId,
  readTenantIdIfGiven,
  readTime,
} from '../../../lib/cli/admin/read-options.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'

describe('findTenant', () => {
  const engine = useTestTable()
  let table: Table
  beforeAll(async () => {
    table = engine.table
    for (const [id, name] of [
      ['t-1', 'Acme'],
      ['t-2', 'Twin'],
      ['t-3', 'Twin'],
      ['t-4', 't-1'],
    ]) {
      await makeTenant(table, { id: String(id), name: String(name), credits: parseCredits('1') }, TESTER)
    }
  })

  it.each([
    ['t-2', 't-2'],
    ['Acme', 't-1'],
    ['t-1', 't-1'],
  ])('%s means the tenant %s: an id counts before a name', async (text, id) => {
    expect(await findTenant(table, text)).toMatchObject({ id })
  })

  it('an id needs one read, however many tenants there are', async () => {
    const queryPage = () => Promise.reject(new Error('all tenants are read'))
    expect(await findTenant({ ...table, queryPage }, 't-2')).toEqual({ id: 't-2', name: 'Twin' })
  })

  it('a name of several tenants is refused with their ids', async () => {
    await expect(findTenant(table, 'Twin')).rejects.toThrow(
      '--tenant Twin: 2 tenants have this name; use the id: t-2, t-3',
    )
  })

  it('a name longer than any id finds its tenant too', async () => {
    const [name, own] = ['ä'.repeat(600), await engine.fresh()]
    await expect(findTenant(own, name)).rejects.toMatchObject({ code: 'not_found' })
    const { id } = await makeTenant(own, { name, credits: parseCredits('1') }, TESTER)
    expect(await findTenant(own, name)).toEqual({ id, name })
  })

  it('a word that no tenant has is refused with the one that was meant', async () => {
    await expect(findTenant(table, 'acme')).rejects.toMatchObject({
      ...{ code: 'not_found', message: 'no tenant acme; did you mean Acme?' },
    })
  })

  it('the option may be left out where a command allows it', async () => {
    const context = { table: async () => table }
    expect(await readTenantId(context, new CommandValues(new Map([['tenant', 'Acme']])))).toBe('t-1')
    expect(await readTenantIdIfGiven(context, new CommandValues(new Map()))).toBeUndefined()
  })
})

describe('readName', () => {
  it('takes a name in any script', () => {
    expect(readName('Acme 東京')).toBe('Acme 東京')
  })

  it.each(['a\u001b[2J', 'a\nb', 'a\u202eb'])('refuses %j, which a terminal would obey', (name) => {
    expect(() => readName(name)).toThrow('--name contains a control character')
  })

  it.each([generateApiKey(), createWebhookSecret(), 'see https://cdn.example.com/v.mp4?Expires=1&Signature=abc~def'])(
    'refuses a name with a secret, and quotes nothing of the secret (%#)',
    (text) => {
      expect(() => readName(text)).toThrow(/^--name contains a key, a secret or a digest: leave it out$/)
    },
  )
})

const NOW = Date.parse('2026-11-21T12:00:00Z')

describe('a duration', () => {
  it.each([
    ['0s', 0],
    ['30m', 1_800_000],
    ['24h', 86_400_000],
    ['90d', 7_776_000_000],
  ])('%s is %i milliseconds', (text, milliseconds) => {
    expect(readOverlap(text)).toBe(milliseconds)
  })

  it.each(['', '24', 'h', '-1h', '1.5h', '24 h', '1w', '24h1m', `${'9'.repeat(30)}d`, '36526d'])(
    '%j is refused, with the name of its option',
    (text) => {
      expect(() => readOverlap(text)).toThrow(`--overlap ${text}: use a duration such as`)
    },
  )
})

describe('a time', () => {
  it.each([
    ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01T10:00Z', '2026-11-01T10:00:00.000Z'],
    ['2026-11-01T10:00:00.5+02:00', '2026-11-01T08:00:00.500Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(new Date(readTime('from', text)).toISOString()).toBe(iso)
  })

  it.each([
    '',
    'yesterday',
    '2026',
    '2026-11',
    '2026-11-01T10:00',
    '2026-13-01',
    '2027-02-29',
    '2026-11-31',
    '1/11/2026',
  ])('%j is refused', (text) => {
    expect(() => readTime('from', text)).toThrow(`--from ${text}: use a date`)
  })
})

describe('an end', () => {
  it('is a duration from now or a date, and lies ahead', () => {
    expect(readEnd('expires', '90d', NOW)).toBe(NOW + 90 * 86_400_000)
    expect(readEnd('expires', '2027-01-31', NOW)).toBe(Date.parse('2027-01-31T00:00:00Z'))
    for (const past of ['0s', '2026-11-21', '2020-01-01']) {
      expect(() => readEnd('expires', past, NOW)).toThrow(`--expires ${past}: use a time in the future`)
    }
    expect(() => readEnd('expires', 'soon', NOW)).toThrow('--expires soon: use a duration')
  })
})

describe('a start', () => {
  it('is a duration before now, a date or a time', () => {
    expect(readStart('since', '24h', NOW)).toBe(NOW - 86_400_000)
    expect(readStart('since', '2026-11-01', NOW)).toBe(Date.parse('2026-11-01T00:00:00Z'))
    expect(readStart('since', '36500d', NOW)).toBe(0)
    expect(() => readStart('since', 'soon', NOW)).toThrow('--since soon: use a duration such as 24h or 7d')
  })
})

describe('readAmount', () => {
  it('reads --credits, which is never negative', () => {
    expect(readAmount('credits', '0.25')).toBe(250_000n)
    expect(() => readAmount('credits', '-1')).toThrow('--credits "-1" is not an amount')
  })

  it.each([
    ['-5', -5_000_000n],
    ['-0.000001', -1n],
    ['2.50', 2_500_000n],
  ])('reads --amount %s with its sign', (text, amount) => {
    expect(readAmount('amount', text, parseSignedCredits)).toBe(amount)
  })

  it.each(['0', '-0', '0.000', '-0.0'])('refuses --amount %s, which changes nothing', (text) => {
    expect(() => readAmount('amount', text, parseSignedCredits)).toThrow(
      `--amount ${text}: use an amount other than zero`,
    )
  })

  it.each(['-', '--5', '+5', '-5e3', '1,5'])('refuses --amount %j, which is no amount', (text) => {
    expect(() => readAmount('amount', text, parseSignedCredits)).toThrow(
      `--amount "${text}" is not an amount: write digits with at most six decimal places, such as "0.14" or "-5"`,
    )
  })

  it.each(['1000000000.000001', '-1000000001'])('refuses --amount %s, and says what the most is', (text) => {
    expect(() => readAmount('amount', text, parseSignedCredits)).toThrow('is too large: the most is 1000000000')
  })
})
