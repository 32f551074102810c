import '#local/awslambda.ts'
import { type ResponseSink, ResponseStream } from '#local/awslambda.ts'
import { invokeStreamingFunction } from '#local/lambda-runtime.ts'
import { runProbe, STREAM_PROBES } from '../engines/stream-probes.ts'

/** What a run of this process tells its parent, besides the facts. */
export type StandInMessage = { readonly received: string } | { readonly failure: string } | { readonly isOver: true }

/** A process of its own for one probe of the stand-in of Lambda's runtime client: some probes end it. */
process.once('message', async ({ probe }: { readonly probe: string }) => {
  const sink: ResponseSink = {
    take: (bytes, taken) => {
      tell({ received: bytes.toString('latin1') })
      setImmediate(taken)
      if (STREAM_PROBES[probe]?.isBroken) {
        setImmediate(() => stream.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })))
      }
    },
    end: () => undefined,
  }
  const stream = new ResponseStream(sink)
  const load = async () => ({ streamHandler: awslambda.streamifyResponse(runProbe) })
  await invokeStreamingFunction({ name: 'probe', timeoutSeconds: 10, load }, { probe }, stream).catch((error: Error) =>
    tell({ failure: error.name }),
  )
  tell({ isOver: true })
  process.disconnect()
})

function tell(message: StandInMessage): void {
  process.send?.(message)
}
