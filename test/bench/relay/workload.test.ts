import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { GATEWAY_MODELS, writeRelayConfig } from '../../../bench/relay/relay-config.ts'
import { ANSWER_BYTES, chatRequestBody, STREAM_EVENTS, UPSTREAM_MODEL } from '../../../bench/relay/workload.ts'
import { loadGatewayConfig } from '../../../lib/config/load-gateway-config.ts'

const MODELS = Object.values(GATEWAY_MODELS).flatMap((models) => Object.values(models))

describe('the workload of the relay', () => {
  it('is an answer of 561 bytes, or 20 events and [DONE]', () => {
    expect(ANSWER_BYTES.json).toBe(561)
    expect(STREAM_EVENTS).toHaveLength(21)
    expect(STREAM_EVENTS.at(-1)?.toString()).toBe('data: [DONE]\n\n')
  })

  it('has equally long requests and answers for every model', () => {
    expect(new Set(MODELS.map(({ length }) => length))).toEqual(new Set([UPSTREAM_MODEL.length]))
  })

  it('asks for a stream with a member of its own, and else for the same', () => {
    const { stream, ...rest } = JSON.parse(chatRequestBody('m', true))
    expect([stream, rest]).toEqual([true, JSON.parse(chatRequestBody('m', false))])
  })

  it('goes to two channels of one priority for every model of a configuration that the gateway takes', () => {
    const directory = mkdtempSync(join(tmpdir(), 'reelgate-test-'))
    try {
      const file = join(directory, 'bench.json')
      writeRelayConfig(file, { burst: 'http://127.0.0.1:9100', paced: 'http://127.0.0.1:9101' })
      const { config } = loadGatewayConfig({ file, environment: {}, mode: 'local' })
      for (const model of MODELS) {
        const channels = config.channels.filter(({ models }) => Object.hasOwn(models, model))
        expect(channels.map(({ priority }) => priority)).toEqual([0, 0])
      }
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
