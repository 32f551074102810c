import { CopyButton } from '../../components/copy.tsx'
import { announcementOf, type ChatMessage, type ChatReply, plainNumber } from '../../core/playground/chat-reply.ts'

type ChatPaneProps = {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly reply: ChatReply | undefined
}

/** A conversation, and the reply that is arriving. */
export function ChatPane({ model, messages, reply }: ChatPaneProps) {
  const isRunning = reply !== undefined && !reply.isDone
  return (
    <article class="card chat">
      <header class="card-head">
        <h3>{model}</h3>
        {reply === undefined ? null : <Figures reply={reply} />}
      </header>
      <ol class="chat-messages">
        {messages.map((message, index) => (
          <Message key={index} message={message} />
        ))}
        {isRunning ? <Message message={{ role: 'assistant', content: reply.content }} /> : null}
      </ol>
      {messages.length === 0 ? <p class="playground-hint">The conversation appears here.</p> : null}
      {reply?.error === undefined ? null : (
        <p class="callout callout-bad" role="alert">
          {reply.error}
        </p>
      )}
      <p class="unseen" role="status">
        {announcementOf(reply)}
      </p>
    </article>
  )
}

function Message({ message }: { readonly message: ChatMessage }) {
  const { role, content } = message
  return (
    <li class={`message message-${role}`}>
      <span class="message-role">{role}</span>
      <div class="message-content">{content}</div>
      {content === '' ? null : <CopyButton value={content} label="message" />}
    </li>
  )
}

function Figures({ reply }: { readonly reply: ChatReply }) {
  const { firstMilliseconds, totalMilliseconds, inputTokens, outputTokens, cost } = reply
  const figures = [
    firstMilliseconds === undefined ? undefined : `first ${Math.round(firstMilliseconds)} ms`,
    reply.isDone && totalMilliseconds !== undefined ? `total ${Math.round(totalMilliseconds)} ms` : undefined,
    inputTokens === undefined ? undefined : `${inputTokens} in, ${outputTokens ?? 0} out`,
    cost === undefined ? undefined : `cost ${plainNumber(cost)}`,
  ]
  return <span class="hint number">{figures.filter((figure) => figure !== undefined).join(' · ')}</span>
}
