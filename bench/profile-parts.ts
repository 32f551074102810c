import type { CpuProfile } from './cpu-profile.ts'

/** The parts of the host's process that its time is divided into, in the order of the table. */
export const PROFILE_PARTS = [
  'our handlers',
  'AWS SDK',
  'HTTP client',
  'other libraries',
  'host',
  'HTTP server of the host',
  'simulated upstream',
  'interpreter',
  'S3 engine',
  'garbage collection',
  'event loop and the rest',
  'idle',
] as const

/** The parts that relayed requests take time in, in the order of the table; `our handlers` is what the others leave. */
export const RELAY_PROFILE_PARTS = [
  'request and its checks',
  'quota ledger',
  'table calls',
  'upstream connection',
  'event stream',
  'answer to the client',
  'relay server',
  'our handlers',
  'AWS SDK',
  'other libraries',
  'host',
  'HTTP server of the host',
  'HTTP client',
  'garbage collection',
  'event loop and the rest',
  'idle',
] as const

export type ProfilePart = (typeof PROFILE_PARTS)[number] | (typeof RELAY_PROFILE_PARTS)[number]

/** Whose code a script is, by its path; the first that matches counts. */
const PARTS_BY_PATH: readonly (readonly [RegExp, ProfilePart])[] = [
  [/\/node_modules\/(@aws-sdk|@smithy|@aws)\//, 'AWS SDK'],
  [/\/node_modules\/(aws-local-stepfunctions|jsonpath-plus|cronstrue|crypto-js|asl-validator)\//, 'interpreter'],
  [/\/node_modules\/(s3rver|koa|co-body|busboy|fast-xml-parser)/, 'S3 engine'],
  [/\/node_modules\//, 'other libraries'],
  [/\/lib\/simulators\//, 'simulated upstream'],
  [/\/lib\/local\/step-functions-engine\.ts$/, 'interpreter'],
  [/\/(lib|bin)\//, 'host'],
  [/\/lambdas\/adapters\/(aws|store\/table)\//, 'table calls'],
  [/\/lambdas\/(adapters\/http-server|relay-server)\//, 'relay server'],
  [/\/lambdas\/(adapters\/store\/(accounts|money)|core\/(money|quota))\/|\/relay\/bill-request\.ts/, 'quota ledger'],
  [/\/lambdas\/(relay\/relay-stream|core\/relay\/[a-z0-9-]*(stream|events|choices))\.ts/, 'event stream'],
  [
    /\/lambdas\/(core\/relay\/(relay-channel-order|breaker)|adapters\/http\/|relay\/(failover|call-channel)\.ts)/,
    'upstream connection',
  ],
  [/\/lambdas\/(core\/relay\/.*-reply|relay\/[a-z-]*(reply|response))\.ts/, 'answer to the client'],
  [/\/lambdas\/(core\/contract\/|core\/json|middleware\/json-body|core\/relay\/chat-call)/, 'request and its checks'],
  [/\/lambdas\//, 'our handlers'],
]

const PARTS_BY_FUNCTION = new Map<string, ProfilePart>([
  ['(garbage collector)', 'garbage collection'],
  ['(idle)', 'idle'],
])

/** Frames of Node's own HTTP that tell a client from a server where no script of the project stands below them. */
const CLIENT_FRAME = /_http_client|_http_agent/
const SERVER_FRAME = /_http_server|_http_incoming|_http_outgoing/

type Frame = { readonly functionName: string; readonly url: string }

/** Self time of every part in milliseconds: time inside Node and V8 counts for the script that called it. */
export function timeByPart({ nodes, samples, timeDeltas }: CpuProfile): Map<ProfilePart, number> {
  const partOfNode = attributeNodes(nodes)
  const times = new Map<ProfilePart, number>()
  for (const [index, node] of samples.entries()) {
    const part = partOfNode.get(node) ?? 'event loop and the rest'
    times.set(part, (times.get(part) ?? 0) + (timeDeltas[index] ?? 0) / 1000)
  }
  return times
}

/** Walks from the root, so that a frame without a part of its own takes the part of the frame that called it. */
function attributeNodes(nodes: CpuProfile['nodes']): Map<number, ProfilePart> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parts = new Map<number, ProfilePart>()
  const [root] = nodes
  const pending = root === undefined ? [] : [{ node: root, inherited: 'event loop and the rest' as ProfilePart }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const part = partOf(next.node.callFrame, next.inherited)
    parts.set(next.node.id, part)
    for (const id of next.node.children) {
      const child = byId.get(id)
      if (child !== undefined) {
        pending.push({ node: child, inherited: part })
      }
    }
  }
  return parts
}

function partOf({ functionName, url }: Frame, caller: ProfilePart): ProfilePart {
  if (url.startsWith('file:')) {
    return PARTS_BY_PATH.find(([pattern]) => pattern.test(url))?.[1] ?? 'event loop and the rest'
  }
  const byFunction = PARTS_BY_FUNCTION.get(functionName)
  if (byFunction !== undefined) {
    return byFunction
  }
  return partOfNodeFrame({ functionName, url }, caller)
}

/** What the SDK asks of Node's client is the client's; so is whatever Node does on its own when an answer arrives, whoever asked. */
function partOfNodeFrame({ functionName, url }: Frame, caller: ProfilePart): ProfilePart {
  const isClient = CLIENT_FRAME.test(url) || functionName === 'parserOnIncomingClient'
  if (isClient && (caller === 'AWS SDK' || caller === 'event loop and the rest')) {
    return 'HTTP client'
  }
  return caller === 'event loop and the rest' && SERVER_FRAME.test(url) ? 'HTTP server of the host' : caller
}
