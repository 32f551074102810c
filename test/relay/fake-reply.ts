import type { UpstreamReply } from '#lambdas/relay/call-channel.ts'
import { FakeBody } from './fake-body.ts'
import { relayChannel } from './relay-channel.ts'

/** The reply of an upstream whose body a test writes, and what its reader told the breaker. */
export function fakeReply(changes: Partial<UpstreamReply> = {}) {
  const body = new FakeBody()
  const told: string[] = []
  const reply = {
    channel: relayChannel('main'),
    status: 200,
    contentType: 'application/json',
    upstreamRequestId: undefined,
    attempts: 1,
    body,
    withoutCredentials: (text: string) => text,
    failed: (fault: string) => void told.push(fault),
    completed: () => void told.push('completed'),
    ...changes,
  }
  return { reply, body, told }
}
