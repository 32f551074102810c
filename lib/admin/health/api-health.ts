import { get } from 'node:http'
import { get as getSecurely } from 'node:https'
import { type Finding, fine, wrong } from './finding.ts'

/** Longer than a cold start takes. */
const ANSWER_MILLISECONDS_MAX = 10_000

/** Whether `GET /health` below the base url answers 200. */
export async function checkApi(baseUrl: string): Promise<Finding[]> {
  const url = new URL('health', baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`)
  const advice = 'Look at the errors of the function get-health, and at domain and certificate where you set them.'
  try {
    const status = await statusOf(url)
    return [
      status === 200 ? fine('api', `${url} answers`) : wrong('api', `${url} answers with status ${status}`, advice),
    ]
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return [wrong('api', `${url} does not answer: ${reason}`, advice)]
  }
}

function statusOf(url: URL): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const request = (url.protocol === 'https:' ? getSecurely : get)(url, (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  request.setTimeout(ANSWER_MILLISECONDS_MAX, () => request.destroy(new Error('no answer in time')))
  request.on('error', reject)
  return promise
}
