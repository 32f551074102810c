import { useRef, useState } from 'preact/hooks'
import { gatewayRequest } from '../../api/gateway-request.ts'
import { eventsOf } from '../../api/gateway-stream.ts'
import { queryClient } from '../../api/query-client.ts'
import { describeFailure } from '../../components/action-dialog.tsx'
import { afterChunk, type ChatMessage, type ChatReply, FIRST_REPLY, STOPPED } from '../../core/playground/chat-reply.ts'

type Sending = {
  readonly tenant: string | undefined
  readonly body: Readonly<Record<string, unknown>> & { readonly messages: readonly ChatMessage[] }
}

/**
 * One conversation with one model. `send` resolves with whether a reply has begun; a message without one is taken back. A reply that
 * arrives after `clear` is dropped.
 */
export function useChat() {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([])
  const [reply, setReply] = useState<ChatReply>()
  const sending = useRef<AbortController | null>(null)
  const send = async ({ tenant, body }: Sending) => {
    const stop = new AbortController()
    sending.current = stop
    setMessages(body.messages)
    const began = performance.now()
    let current: ChatReply = FIRST_REPLY
    const isCleared = () => sending.current !== stop
    const update = (next: ChatReply) => {
      current = next
      if (!isCleared()) {
        setReply(next)
      }
    }
    update(current)
    try {
      const response = await gatewayRequest('/chat/completions', { tenant, method: 'POST', body, signal: stop.signal })
      for await (const { data } of eventsOf(response)) {
        update(afterChunk(current, data, performance.now() - began))
      }
    } catch (error) {
      update({ ...current, error: stop.signal.aborted ? STOPPED : describeFailure(error) })
    }
    // No message is left that could be taken back.
    if (isCleared()) {
      return true
    }
    sending.current = null
    const hasReply = current.error === undefined || current.content !== ''
    setMessages(
      hasReply ? [...body.messages, { role: 'assistant', content: current.content }] : body.messages.slice(0, -1),
    )
    setReply({ ...current, isDone: true })
    void queryClient.invalidateQueries({ queryKey: ['/overview'] })
    return hasReply
  }
  return {
    messages,
    reply,
    send,
    stop: () => sending.current?.abort(),
    clear: () => {
      sending.current?.abort()
      sending.current = null
      setMessages([])
      setReply(undefined)
    },
  }
}
