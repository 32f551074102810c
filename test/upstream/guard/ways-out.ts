import { openDownload } from '#upstream/guard/download.ts'
import { createUpstreamHttp, POLL_LIMITS, SUBMIT_LIMITS } from '#upstream/providers/upstream-http.ts'
import { sendCallback } from '#upstream/send-callback.ts'

/** What a process of its own is told: where to go, and whether by the gateway's own ways or by the platform's `fetch`. */
export type WaysOutInput = { readonly origins: readonly string[]; readonly by: 'gateway' | 'fetch' }

/** Every way in which the gateway reaches a host that a client or an upstream named, and the upstreams themselves. */
async function goEveryWay(origin: string): Promise<unknown[]> {
  const http = createUpstreamHttp()
  const callback = await sendCallback({ url: `${origin}/callback`, allowlist: [origin], body: '{}', headers: {} })
  const { body } = await openDownload({ url: `${origin}/download`, trustedOrigins: [origin], maxBytes: 1_000 })
  const poll = await http.send({ limits: POLL_LIMITS, method: 'GET', url: `${origin}/poll`, headers: {} })
  const submit = await http.send({
    limits: SUBMIT_LIMITS,
    method: 'POST',
    url: `${origin}/submit`,
    headers: {},
    body: '{}',
  })
  http.close()
  return [callback.outcome, Buffer.concat(await body.toArray()).toString(), poll.kind, submit.kind]
}

async function fetchStatus(origin: string): Promise<unknown> {
  return await fetch(`${origin}/fetch`).then(
    ({ status }) => status,
    () => 'failed',
  )
}

if (import.meta.main) {
  const { origins, by }: WaysOutInput = JSON.parse(process.argv[2] ?? '')
  const results = await Promise.all(
    origins.map((origin) => (by === 'gateway' ? goEveryWay(origin) : fetchStatus(origin))),
  )
  process.stdout.write(JSON.stringify(results))
}
