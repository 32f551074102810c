import type { ServerResponse } from 'node:http'
import { describe, expect, it, jest } from '@jest/globals'
import { logger } from '#platform/telemetry/logger.ts'
import { readRig } from '../admin-api/read/read-rig.ts'
import { CHAT, openStream, sendJson, startRelayRig, word } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'

process.env.CONSOLE_ORIGIN = 'loopback'

const rig = useOpened(() => startRelayRig({ channel: { timeouts: { idle_seconds: 1 } } }))

/** Ends a reply in the middle of its announced length. */
function breakOff(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '99' })
  response.write('{"id":', () => response.destroy())
}

const FAULTS: readonly [string, boolean, (response: ServerResponse) => void][] = [
  ['broke_off', false, breakOff],
  ['broke_off', true, (response) => void openStream(response).write(word('Hi'), () => response.destroy())],
  ['idle_timeout', true, (response) => void openStream(response).write(word('Hi'))],
  ['no_end', true, (response) => void openStream(response).end(word('Hi'))],
  ['reported_error', true, (response) => void openStream(response).end('data: {"error":{"message":"x"}}\n\n')],
  [
    'not_json',
    true,
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  ],
  ['odd_body', false, (response) => sendJson(response, '[]')],
  [
    'too_large',
    true,
    (response) => void openStream(response).end(`${word('Hi')}data: ${'x'.repeat(17 * 1024 * 1024)}`),
  ],
]

describe('a relayed request whose reply is faulty', () => {
  it.each(FAULTS)(
    'says %s to operators, in its log line and its row, and upstream_error to its client (stream: %j)',
    async (fault, stream, reply) => {
      rig.upstreams[0]?.answerWith(reply)
      const lines = jest.spyOn(logger, 'info')
      const { id, key } = await rig.tenant('10')
      const { text } = await rig.send({ model: CHAT, messages: [{ role: 'user', content: 'hi' }], stream }, { key })
      expect(text).toContain('"code":"upstream_error"')
      expect(text).not.toContain(fault)
      const reason = `HTTP 200 ${fault}`
      expect(lines.mock.calls.at(-1)).toMatchObject(['request', { reason }])
      const { body } = await readRig(rig.table)('/requests', { tenant: id, failed: 'true' })
      const [row] = Object(body).requests
      expect(row).toMatchObject({ failure: 'upstream_error', cause: reason, channel: 'channel-0' })
      lines.mockRestore()
    },
  )
})
