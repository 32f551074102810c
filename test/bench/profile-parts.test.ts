import { describe, expect, it } from 'vitest'
import { timeByPart } from '../../bench/profile-parts.ts'

type Frame = readonly [name: string, url: string]

/** A profile of call stacks, outermost first, each sampled once for a millisecond. */
function profileOf(stacks: readonly (readonly Frame[])[]) {
  const root = { id: 1, callFrame: { functionName: '(root)', url: '' }, children: [] as number[] }
  const nodes = [root]
  const samples = stacks.map((stack) => {
    let parent = root
    for (const [functionName, url] of stack) {
      const node = { id: nodes.length + 1, callFrame: { functionName, url }, children: [] }
      nodes.push(node)
      parent.children.push(node.id)
      parent = node
    }
    return parent.id
  })
  return { nodes, samples, timeDeltas: samples.map(() => 1000) }
}

const HANDLER: Frame = ['handler', 'file:///app/lambdas/api/get-video-job/handler.ts']
const SDK: Frame = ['send', 'file:///app/node_modules/@smithy/core/dist-cjs/index.js']
const HOST: Frame = ['answerApiRequest', 'file:///app/lib/local/api-front.ts']

describe('the time of a profile', () => {
  it.each<[string, Frame[]]>([
    ['our handlers', [HOST, HANDLER]],
    ['AWS SDK', [HOST, HANDLER, SDK]],
    ['other libraries', [HANDLER, ['parse', 'file:///app/node_modules/zod/v4/core/parse.js']]],
    ['host', [HOST]],
    ['simulated upstream', [['#submit', 'file:///app/lib/simulators/p1.ts']]],
    ['interpreter', [['execute', 'file:///app/node_modules/aws-local-stepfunctions/build/main.js']]],
    ['S3 engine', [['put', 'file:///app/node_modules/s3rver/lib/store.js']]],
    ['garbage collection', [HANDLER, ['(garbage collector)', '']]],
    ['idle', [['(idle)', '']]],
    ['request and its checks', [HANDLER, ['parseChatRequest', 'file:///app/lambdas/core/contract/chat-request.ts']]],
    ['relay server', [['answer', 'file:///app/lambdas/relay-server/relay-server.ts']]],
    ['relay server', [['readBody', 'file:///app/lambdas/adapters/http-server/read-body.ts']]],
    ['quota ledger', [HANDLER, ['reserve', 'file:///app/lambdas/adapters/store/money/relay-ledger.ts']]],
    ['table calls', [HANDLER, ['transact', 'file:///app/lambdas/adapters/store/table/lean-table.ts']]],
    ['table calls', [HANDLER, ['signRequest', 'file:///app/lambdas/adapters/aws/sign-request.ts']]],
    ['upstream connection', [HANDLER, ['sendOnce', 'file:///app/lambdas/adapters/http/send-once.ts']]],
    ['event stream', [HANDLER, ['push', 'file:///app/lambdas/core/relay/chat-stream.ts']]],
    ['answer to the client', [HANDLER, ['sendJson', 'file:///app/lambdas/relay/send-response.ts']]],
  ])('in a script counts for its part: %s', (part, stack) => {
    expect([...timeByPart(profileOf([stack]))]).toEqual([[part, 1]])
  })

  it('inside Node counts for the script that called it', () => {
    const hash: Frame = ['Hash', 'node:internal/crypto/hash']
    expect([
      ...timeByPart(
        profileOf([
          [HANDLER, hash],
          [HOST, hash],
        ]),
      ),
    ]).toEqual([
      ['our handlers', 1],
      ['host', 1],
    ])
  })

  it("inside Node's HTTP is told apart by the side that it serves", () => {
    const read: Frame = ['onStreamRead', 'node:internal/stream_base_commons']
    const stacks: Frame[][] = [
      [SDK, ['ClientRequest', 'node:_http_client']],
      [read, ['socketOnData', 'node:_http_client'], ['emit', 'node:events']],
      [read, ['onParserExecuteCommon', 'node:_http_server']],
    ]
    expect(Object.fromEntries(timeByPart(profileOf(stacks)))).toEqual({
      'HTTP client': 2,
      'HTTP server of the host': 1,
    })
  })

  it('of names that every object has is no part of its own', () => {
    expect([...timeByPart(profileOf([[['constructor', 'node:events']]]))]).toEqual([['event loop and the rest', 1]])
  })
})
