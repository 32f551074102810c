import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import OpenAI from 'openai'
import type { JsonObject } from '#core/json/parse-json-text.ts'
import { formatCredits, parseCredits } from '#core/money.ts'
import { createMp4Scanner } from '#core/mp4.ts'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { type LocalHost, startLocalHost } from '#local/local-host.ts'
import { listen } from '#platform/http-server/http-server.ts'
import { readBody } from '#platform/http-server/request-bodies.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { verificationText } from './admin/ledger.ts'
import { GatewayClient } from './smoke/gateway-client.ts'
import { JOBS, waitForJob } from './smoke/steps.ts'
import { ProgressBar } from './terminal.ts'

/** One callback: the signed body, unchanged, and the headers. */
type ReceivedCallback = { readonly body: string; readonly headers: Record<string, string> }

/** Larger than any callback. */
const CALLBACK_BYTES_MAX = 65_536

/** Starts a client's server that receives one callback. */
async function startCallbackReceiver() {
  const { promise: received, resolve } = Promise.withResolvers<ReceivedCallback>()
  const server = await listen((request, response) => {
    readBody(request, CALLBACK_BYTES_MAX)
      .then((body) => {
        const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
        resolve({ body: body.toString('utf8'), headers: Object.fromEntries(headers) })
        response.writeHead(204).end()
      })
      .catch(() => response.destroy())
  }, 0)
  return { origin: `http://127.0.0.1:${server.port}`, received, close: server.close }
}

const CHAT_MODEL = 'chat-default'
const EMBEDDING_MODEL = 'text-embedding-3-small'

/** The official SDK with the gateway's address and a key, as a client would use it. */
function openClient({ url, key }: LocalHost): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
}

/** Streams a chat and prints each word as it arrives. */
async function showChat(host: LocalHost): Promise<void> {
  const question = 'What does a paper city look like at night?'
  console.log(`\nchat.completions.create({ model: '${CHAT_MODEL}', stream: true })  "${question}"`)
  const startedAt = performance.now()
  const stream = await openClient(host).chat.completions.create({
    model: CHAT_MODEL,
    messages: [{ role: 'user', content: question }],
    stream: true,
    stream_options: { include_usage: true },
  })
  let firstWordMilliseconds: number | undefined
  let tokens = 0
  process.stdout.write('  ')
  for await (const { choices, usage } of stream) {
    firstWordMilliseconds ??= performance.now() - startedAt
    process.stdout.write(choices[0]?.delta.content ?? '')
    tokens = usage?.total_tokens ?? tokens
  }
  console.log(`\n  first word after ${Math.round(firstWordMilliseconds ?? 0)} ms, ${tokens} tokens in all`)
}

/** Embeds two strings. By default the SDK requests base64 and decodes it. */
async function showEmbedding(host: LocalHost): Promise<void> {
  const input = ['a paper city lights up at night', 'a paper town glows after dark']
  console.log(`\nembeddings.create({ model: '${EMBEDDING_MODEL}', input: [2 strings] })`)
  const { data, usage } = await openClient(host).embeddings.create({ model: EMBEDDING_MODEL, input })
  const [first = [], second = []] = data.map(({ embedding }) => embedding)
  const similarity = first.reduce((sum, value, index) => sum + value * (second[index] ?? 0), 0)
  console.log(
    `  ${data.length} vectors of ${first.length} numbers, similarity ${similarity.toFixed(2)}; ${usage.total_tokens} tokens\n`,
  )
}

const CONFIG_FILE = join(import.meta.dirname, '../../config/demo.yaml')

/** Far above the usual time, for a machine under load. */
const JOB_SECONDS_MAX = 60

const CALLBACK_SECONDS_MAX = 20

const POLL_MILLISECONDS = 250

/** Rough time of the demo's upstream and its polls. */
const VIDEO_SECONDS = 6

/** Runs a video job end to end on one machine, with its callback and download, then a chat and an embedding, and shows the ledger. */
export async function runDemo(): Promise<void> {
  const receiver = await startCallbackReceiver()
  process.env.DEMO_CALLBACK_ORIGIN = receiver.origin
  const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-demo-'))
  const host = await startLocalHost({
    port: 0,
    configFile: CONFIG_FILE,
    dataDirectory,
    apiKey: undefined,
    allowedHosts: [],
    credits: parseCredits('100'),
  })
  try {
    console.log(`The gateway listens on ${host.url}; its upstreams are simulated, each with its own HTTP server.\n`)
    await showBalance('before')
    const job = await makeVideo(host, `${receiver.origin}/hooks/video`)
    await showCallback(await withinBound(receiver.received), host.tenant.webhookSecret)
    await showDownload(job)
    await showChat(host)
    await showEmbedding(host)
    await showBalance('after')
    console.log(`  ledger verify: ${verificationText(await verifyLedger(openTable()))}`)
    console.log(
      '\nTo look at it, run npm start: it prints a link to the console, with a playground that makes and shows videos.',
    )
  } finally {
    await Promise.all([host.close(), receiver.close()])
    rmSync(dataDirectory, { recursive: true, force: true })
  }
}

/** The callback follows the end of the job at once. @throws Error if none arrives in time. */
async function withinBound(received: Promise<ReceivedCallback>): Promise<ReceivedCallback> {
  const late = delay(CALLBACK_SECONDS_MAX * 1000, undefined, { ref: false }).then(() => {
    throw new Error(`no callback arrived within ${CALLBACK_SECONDS_MAX} s`)
  })
  return await Promise.race([received, late])
}

/** Bounds the wait for a settlement, which follows the last byte of its response. */
const BALANCE_READS_MAX = 100

async function showBalance(when: string): Promise<void> {
  let { balance } = await getTenant(openTable(), 'demo')
  for (let read = 1; balance.held > 0n && read < BALANCE_READS_MAX; read += 1) {
    balance = (await getTenant(openTable(), 'demo')).balance
  }
  const [available, held, spent] = [balance.available, balance.held, balance.spent].map(formatCredits)
  console.log(`  ledger ${when}: available ${available}, held ${held}, spent ${spent} credits`)
}

async function makeVideo({ url, key }: LocalHost, callbackUrl: string): Promise<JsonObject> {
  const signal = AbortSignal.timeout(JOB_SECONDS_MAX * 1000)
  const client = new GatewayClient({ baseUrl: url, apiKey: key, signal })
  const body = {
    model: 'famB-1.1-t2v',
    prompt: 'a paper city lights up at night',
    duration: 5,
    callback_url: callbackUrl,
  }
  console.log(`\nPOST ${JOBS} ${JSON.stringify(body)}`)
  const created = await client.json(JOBS, { status: 201, body })
  const bar = new ProgressBar(VIDEO_SECONDS)
  bar.draw(String(created.status))
  const waiting = { pollMilliseconds: POLL_MILLISECONDS, onStatus: (status: string) => bar.draw(status) }
  const { value: job } = await waitForJob(client, String(created.id), waiting)
  bar.end()
  return job
}

/** Verifies the signature with the official SDK, as a client would. */
async function showCallback({ body, headers }: ReceivedCallback, webhookSecret: string): Promise<void> {
  const client = new OpenAI({ apiKey: 'unused', webhookSecret })
  await client.webhooks.unwrap(body, headers)
  console.log(`\nThe callback arrived and its signature is valid (openai webhooks.unwrap):\n  ${body}`)
}

async function showDownload(job: JsonObject): Promise<void> {
  const url = String(job.url)
  const response = await fetch(url)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const scanner = createMp4Scanner()
  scanner.push(bytes)
  const range = await fetch(url, { headers: { range: 'bytes=4-7' } })
  const brand = await range.text()
  console.log(`\nGET ${url.slice(0, 60)}...`)
  console.log(
    `  ${bytes.length} bytes of ${response.headers.get('content-type')}, ${scanner.finish().durationSeconds} s long according to its header`,
  )
  console.log(`  bytes 4-7 alone: ${range.status} "${brand}"\n`)
}
