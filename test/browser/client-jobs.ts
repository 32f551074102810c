import type { VideoApi } from '../e2e/video-api.ts'
import type { ConsoleHost } from './console-host.ts'

/** A tenant with one video job. */
type ClientJob = {
  readonly tenant: string
  readonly key: string
  readonly api: VideoApi
  readonly id: string
}

/** Video jobs that clients create before the first test, because each takes seconds, in which other tests run. */
export type ClientJobs = {
  /** Will succeed. */
  readonly paid: ClientJob
  /** Will fail. */
  readonly failed: ClientJob
  /** Will succeed; every string of its client is `HOSTILE`. */
  readonly hostile: ClientJob
}

/** An element with a script, the end of an attribute, and an url that is one. */
export const HOSTILE = `"'><img src=x onerror=alert(1)><script>alert(2)</script><a href="javascript:alert(3)">`

/** Creates the jobs, each of a tenant of its own with 20 credits. Does not wait for their ends. */
export async function createClientJobs(host: ConsoleHost, callbackOrigin: string): Promise<ClientJobs> {
  const create = async (name: string, prompt: string, path: string): Promise<ClientJob> => {
    const tenant = String(Object(await host.gateway.admin('tenant', 'create', '--name', name, '--credits', '20')).id)
    const key = String(Object(await host.gateway.admin('key', 'create', '--tenant', tenant, '--name', name)).key)
    const api = host.gateway.api.withKey(key)
    const callback_url = `${callbackOrigin}/${encodeURIComponent(path)}`
    const { status, json } = await api.create({ model: 'famB-1.1-t2v', prompt, callback_url })
    if (status !== 201) {
      throw new Error(`the job of ${name} is refused with ${status}`)
    }
    return { tenant, key, api, id: String(json.id) }
  }
  const [paid, failed, hostile] = await Promise.all([
    create('Studio', 'a paper city', 'hook'),
    create('Workshop', '[fail] a paper city', 'hook'),
    create(HOSTILE, HOSTILE, HOSTILE),
  ])
  return { paid, failed, hostile }
}
