import { describe, expect, it } from 'vitest'
import type { TokenPrices } from '#core/catalogue/token-prices.ts'
import { chatCharge } from '#core/quota/chat-cost.ts'
import type { TokenCounts } from '#core/quota/token-counts.ts'
import { readTokenUsage } from '#core/quota/token-usage.ts'
import { ChatStream } from '#core/relay/chat-stream.ts'
import { rulesOf } from '../relay/reply-rules.ts'
import { shippedCatalogue } from '../shipped-catalogue.ts'

const shipped = shippedCatalogue.findRelayModel('chat-default', { kind: 'chat', allowed: null })

/** The bill of a usage, in millionths of a credit. */
function billOf(usage: TokenCounts | undefined, prices: TokenPrices): bigint | undefined {
  return shipped && usage && chatCharge({ ...shipped, prices: [prices] }, usage).amount
}

type WorkedBill = {
  readonly upstream: string
  readonly usage: object
  readonly prices: TokenPrices
  readonly bill: bigint
}

/** Bills that others got wrong, with the usage as the upstream reported it and its list prices per million tokens. */
const WORKED_BILLS: readonly WorkedBill[] = [
  {
    upstream: 'OpenAI, a chat with cached input',
    usage: {
      prompt_tokens: 2006,
      completion_tokens: 300,
      total_tokens: 2306,
      prompt_tokens_details: { cached_tokens: 1920 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
    prices: { input: '2.5', cached_input: '0.25', output: '15' },
    bill: 5_195n,
  },
  {
    upstream: 'OpenAI, a response with cached input and a write',
    usage: {
      input_tokens: 172_000,
      input_tokens_details: { cached_tokens: 155_000, cache_write_tokens: 3_000 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 172_000,
    },
    prices: { input: '5', cached_input: '0.5', cache_write: '6.25', output: '20' },
    bill: 166_250n,
  },
  {
    upstream: 'Anthropic, a message with a write',
    usage: {
      input_tokens: 3,
      cache_creation_input_tokens: 12_304,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 12_304, ephemeral_1h_input_tokens: 0 },
      output_tokens: 550,
    },
    prices: { input: '3', cached_input: '0.3', cache_write: '3.75', output: '15' },
    bill: 54_399n,
  },
  {
    upstream: 'Anthropic, a stream of a message: the start, overwritten by the last delta',
    usage: {
      ...{ input_tokens: 4, cache_creation_input_tokens: 0, cache_read_input_tokens: 2_455, output_tokens: 1 },
      ...{ output_tokens: 23 },
    },
    prices: { input: '0.8', cached_input: '0.08', cache_write: '1', output: '4' },
    bill: 292n,
  },
  {
    upstream: 'Anthropic, a message with a write for an hour',
    usage: {
      input_tokens: 15,
      cache_creation_input_tokens: 4_803,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 4_803 },
      cache_read_input_tokens: 0,
      output_tokens: 47,
    },
    prices: { input: '3', cached_input: '0.3', cache_write: '3.75', cache_write_1h: '6', output: '15' },
    bill: 29_568n,
  },
  {
    upstream: 'Gemini',
    usage: {
      prompt_tokens: 262_960,
      completion_tokens: 1_744,
      total_tokens: 264_704,
      prompt_tokens_details: { cached_tokens: 257_955 },
    },
    prices: { input: '1.25', cached_input: '0.625', output: '10' },
    bill: 184_918n,
  },
  {
    upstream: 'DeepSeek',
    usage: {
      prompt_tokens: 102_056,
      completion_tokens: 252,
      total_tokens: 102_308,
      prompt_cache_hit_tokens: 94_464,
      prompt_cache_miss_tokens: 7_592,
    },
    prices: { input: '0.14', cached_input: '0.0028', output: '0.28' },
    bill: 1_398n,
  },
  {
    upstream: 'Qwen, an implicit cache',
    usage: {
      prompt_tokens: 10_000,
      completion_tokens: 500,
      total_tokens: 10_500,
      prompt_tokens_details: { cached_tokens: 5_000 },
    },
    prices: { input: '1.2', cached_input: '0.24', cached_input_explicit: '0.12', cache_write: '1.5', output: '6' },
    bill: 10_200n,
  },
  {
    upstream: 'Qwen, an explicit cache',
    usage: {
      prompt_tokens: 12_000,
      completion_tokens: 500,
      total_tokens: 12_500,
      prompt_tokens_details: {
        cached_tokens: 6_000,
        cache_creation_input_tokens: 4_000,
        cache_creation: { ephemeral_5m_input_tokens: 4_000 },
        cache_type: 'ephemeral',
      },
    },
    prices: { input: '1.2', cached_input: '0.24', cached_input_explicit: '0.12', cache_write: '1.5', output: '6' },
    bill: 12_120n,
  },
  {
    upstream: 'Kimi, a whole reply',
    usage: { prompt_tokens: 20_000, completion_tokens: 1_000, total_tokens: 21_000, cached_tokens: 18_000 },
    prices: { input: '0.95', cached_input: '0.16', output: '4' },
    bill: 8_780n,
  },
  {
    upstream: 'OpenRouter',
    usage: {
      prompt_tokens: 10_339,
      completion_tokens: 60,
      total_tokens: 10_399,
      cost: 0.0027056,
      prompt_tokens_details: { cached_tokens: 10_318, cache_write_tokens: 0 },
    },
    prices: { input: '2', cached_input: '0.2', cache_write: '2.5', output: '10' },
    bill: 2_706n,
  },
  {
    upstream: 'xAI, with the reasoning outside of the completion',
    usage: {
      prompt_tokens: 10_120,
      completion_tokens: 1_499,
      total_tokens: 14_428,
      prompt_tokens_details: { cached_tokens: 128, text_tokens: 10_120 },
      completion_tokens_details: { reasoning_tokens: 2_809 },
      cost_in_usd_ticks: 232_856_000,
    },
    prices: { input: '1.25', cached_input: '0.2', output: '2.5' },
    bill: 23_286n,
  },
]

describe('the bill', () => {
  it.each(WORKED_BILLS)('of $upstream is $bill', ({ usage, prices, bill }) => {
    expect(billOf(readTokenUsage(usage), prices)).toBe(bill)
  })

  it('of a stream of Kimi, which reports its usage in the choice, is 8780', () => {
    const usage = { prompt_tokens: 20_000, completion_tokens: 1_000, total_tokens: 21_000, cached_tokens: 18_000 }
    const stream = new ChatStream({
      ...rulesOf('kimi'),
      relaysUsage: false,
      choices: 1,
      withoutCredentials: (text) => text,
      costOf: () => undefined,
    })
    stream.push(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'Hi' } }] })}\n\n`)
    stream.push(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] })}\n\n`)
    stream.push('data: [DONE]\n\n')
    expect(billOf(stream.usage, { input: '0.95', cached_input: '0.16', output: '4' })).toBe(8_780n)
  })
})
