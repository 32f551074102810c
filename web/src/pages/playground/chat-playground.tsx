import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Field } from '../../components/field.tsx'
import type { ChatMessage } from '../../core/playground/chat-reply.ts'
import type { PlaygroundRequest } from '../../core/playground/request-code.ts'
import { ChatPane } from './chat-pane.tsx'
import { CopyAs } from './copy-as.tsx'
import { ModelFacts } from './model-facts.tsx'
import type { PlaygroundProps } from './playground-props.ts'
import { useChat } from './use-chat.ts'

/** Talks with one model or two, side by side. */
export function ChatPlayground({ tenant, models }: PlaygroundProps) {
  const [prompt, setPrompt] = useState('')
  const [settings, setSettings] = useState<Settings>({ system: '', maxTokens: '' })
  const [lastSent, setLastSent] = useState<readonly PlaygroundRequest['body'][]>([])
  const chats = [useChat(), useChat()] as const
  const used = models.map((model, index) => {
    const chat = chats[index] ?? chats[0]
    return { model, chat, body: bodyOf({ model: model.id, earlier: chat.messages, prompt, settings }) }
  })
  const isRunning = used.some(({ chat }) => chat.reply !== undefined && !chat.reply.isDone)
  const send = async (event: Event) => {
    event.preventDefault()
    if (prompt.trim() === '' || isRunning) {
      return
    }
    const sent = used.map(({ chat, body }) => chat.send({ tenant, body }))
    setLastSent(used.map(({ body }) => body))
    setPrompt('')
    const hasReplies = await Promise.all(sent)
    if (!hasReplies.includes(true)) {
      // What nobody has read is kept, unless something else has been typed.
      setPrompt((typed) => (typed === '' ? prompt : typed))
    }
  }
  const isDraft = prompt.trim() !== '' || lastSent.length === 0
  return (
    <div class="playground">
      <form class="card playground-form" onSubmit={send}>
        <Field label="Message">
          {(control) => (
            <textarea
              {...control}
              rows={4}
              value={prompt}
              onInput={(event) => setPrompt(event.currentTarget.value)}
              onKeyDown={(event) =>
                event.key === 'Enter' && (event.metaKey || event.ctrlKey) ? send(event) : undefined
              }
            />
          )}
        </Field>
        <ChatSettings settings={settings} onChange={setSettings} />
        <div class="playground-send">
          {isRunning ? (
            <Button
              icon="close"
              onClick={() => {
                for (const { chat } of used) {
                  chat.stop()
                }
              }}
            >
              Stop
            </Button>
          ) : (
            <Button
              type="submit"
              kind="primary"
              icon="playground"
              blockedBecause={prompt.trim() === '' ? 'Write a message first' : undefined}
            >
              Send
            </Button>
          )}
          <Button
            kind="quiet"
            onClick={() => {
              for (const { chat } of used) {
                chat.clear()
              }
              setLastSent([])
            }}
          >
            New conversation
          </Button>
          <CopyAs kind="chat" bodies={isDraft ? used.map(({ body }) => body) : lastSent} />
        </div>
        <ModelFacts models={models} />
      </form>
      <section class="playground-results playground-run" data-count={used.length} aria-label="Conversations">
        {used.map(({ model, chat }) => (
          <ChatPane key={model.id} model={model.id} messages={chat.messages} reply={chat.reply} />
        ))}
      </section>
    </div>
  )
}

type Settings = {
  readonly system: string
  /** Empty for as many as the model allows. */
  readonly maxTokens: string
}

type Draft = {
  readonly model: string
  readonly earlier: readonly ChatMessage[]
  readonly prompt: string
  readonly settings: Settings
}

function bodyOf({ model, earlier, prompt, settings: { system, maxTokens } }: Draft) {
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system } as const]),
      ...earlier.filter(({ role }) => role !== 'system'),
      { role: 'user', content: prompt } as const,
    ],
    stream: true,
    stream_options: { include_usage: true },
    ...(/^[1-9]\d*$/.test(maxTokens) ? { max_tokens: Number(maxTokens) } : {}),
  }
}

function ChatSettings(props: { readonly settings: Settings; readonly onChange: (settings: Settings) => void }) {
  const { settings, onChange } = props
  return (
    <details>
      <summary>Settings</summary>
      <Field label="System message">
        {(control) => (
          <textarea
            {...control}
            rows={2}
            value={settings.system}
            onInput={(event) => onChange({ ...settings, system: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label="Max output tokens" hint="Empty: as many as the model allows">
        {(control) => (
          <input
            {...control}
            inputMode="numeric"
            value={settings.maxTokens}
            onInput={(event) => onChange({ ...settings, maxTokens: event.currentTarget.value.trim() })}
          />
        )}
      </Field>
    </details>
  )
}
