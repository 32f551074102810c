import { describe, expect, it } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import { CurrentCatalogue, SWITCHES_MILLISECONDS_MAX } from '#store/current-catalogue.ts'
import { PER_SECOND_MODEL, testCatalogue } from '../engines/test-catalogue.ts'

const DISABLED = { enabled: { value: false, by: 'operator', at: 1 } }

/** A catalogue over one item that a test changes, with a clock and reads of its own. */
function openCurrent() {
  const state = {
    now: 1_000_000,
    item: undefined as Record<string, unknown> | undefined,
    reads: 0,
    /** Runs within each read, after the item was looked at. */
    during: async () => {},
  }
  const current = new CurrentCatalogue({
    table: {
      readItem: async (_, options) => {
        expect(options?.mayLag ?? false).toBe(false)
        state.reads += 1
        const item = structuredClone(state.item)
        await state.during()
        return item
      },
    },
    catalogue: testCatalogue(),
    clock: { nowMilliseconds: () => state.now },
  })
  const disable = (id: string) => {
    state.item = { version: Number(state.item?.version ?? 0) + 1, models: {}, channels: { [id]: DISABLED } }
  }
  const channels = async () =>
    (await current.read()).videoChannels(PER_SECOND_MODEL, { directOnly: false }).map(({ id }) => id)
  return { state, current, disable, channels }
}

describe('CurrentCatalogue', () => {
  it('is the configuration where no operator has set a switch', async () => {
    const { channels } = openCurrent()
    expect(await channels()).toEqual(['main', 'spare'])
  })

  it('reads once, and again when the switches are 15 seconds old', async () => {
    const { state, disable, channels } = openCurrent()
    await channels()
    disable('main')
    state.now += SWITCHES_MILLISECONDS_MAX - 1
    expect(await channels()).toEqual(['main', 'spare'])
    expect(state.reads).toBe(1)
    state.now += 1
    expect(await channels()).toEqual(['spare'])
    expect(state.reads).toBe(2)
  })

  it('counts the age from the begin of the read', async () => {
    const { state, disable, channels } = openCurrent()
    state.during = async () => {
      disable('main')
      state.now += 10_000
    }
    await channels()
    state.during = async () => {}
    state.now += 4_999
    expect(await channels()).toEqual(['main', 'spare'])
    state.now += 1
    expect(await channels()).toEqual(['spare'])
  })

  it('reads again when a read took so long that its result is too old', async () => {
    const { state, disable, channels } = openCurrent()
    state.during = async () => {
      disable('main')
      state.now += SWITCHES_MILLISECONDS_MAX
      state.during = async () => {}
    }
    expect(await channels()).toEqual(['spare'])
    expect(state.reads).toBe(2)
  })

  it('is not available while reads take longer than switches may be old', async () => {
    const { state, channels } = openCurrent()
    state.during = async () => {
      state.now += SWITCHES_MILLISECONDS_MAX
    }
    await expect(channels()).rejects.toThrow(ServiceUnavailableError)
  })

  it('shares one read among concurrent requests', async () => {
    const { state, channels } = openCurrent()
    const reading = Promise.withResolvers<void>()
    state.during = () => reading.promise
    const all = Promise.all([channels(), channels(), channels()])
    reading.resolve()
    expect(await all).toEqual([
      ['main', 'spare'],
      ['main', 'spare'],
      ['main', 'spare'],
    ])
    expect(state.reads).toBe(1)
  })

  it('fails while the table is out of reach, also where older switches are known, and recovers', async () => {
    const { state, channels } = openCurrent()
    await channels()
    state.now += SWITCHES_MILLISECONDS_MAX
    state.during = () => Promise.reject(new ServiceUnavailableError())
    await expect(channels()).rejects.toThrow(ServiceUnavailableError)
    state.during = async () => {}
    expect(await channels()).toEqual(['main', 'spare'])
  })

  it('reads again after the clock was set back', async () => {
    const { state, disable, channels } = openCurrent()
    await channels()
    disable('main')
    state.now -= 1
    expect(await channels()).toEqual(['spare'])
  })

  it('makes no new catalogue while the version of the switches is the same', async () => {
    const { state, current, disable } = openCurrent()
    disable('main')
    const first = await current.read()
    state.now += SWITCHES_MILLISECONDS_MAX
    expect(await current.read()).toBe(first)
    expect(state.reads).toBe(2)
  })
})

describe('CurrentCatalogue.readBeside', () => {
  it('runs both reads at the same time, and the other read alone while the switches are fresh', async () => {
    const { state, current } = openCurrent()
    const other = Promise.withResolvers<string>()
    state.during = async () => other.resolve('other')
    expect(await current.readBeside(() => other.promise)).toBe('other')
    expect(await current.readBeside(async () => 'again')).toBe('again')
    expect(state.reads).toBe(1)
  })

  it('waits for both, also when the other read fails, and throws its error first', async () => {
    const { state, current } = openCurrent()
    let hasEnded = false
    state.during = async () => {
      await new Promise((resolve) => setImmediate(resolve))
      hasEnded = true
      throw new ServiceUnavailableError()
    }
    await expect(current.readBeside(() => Promise.reject(new TypeError('other')))).rejects.toThrow('other')
    expect(hasEnded).toBe(true)
  })

  it('throws the error of the switches when the other read succeeds', async () => {
    const { state, current } = openCurrent()
    state.during = () => Promise.reject(new ServiceUnavailableError())
    await expect(current.readBeside(async () => 'other')).rejects.toThrow(ServiceUnavailableError)
  })
})
