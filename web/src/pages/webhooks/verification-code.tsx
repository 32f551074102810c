import { CodeBlock } from '../../components/code-block.tsx'

/** Works with the official `openai` package, which knows Standard Webhooks. */
const CODE = `import OpenAI from 'openai'

const client = new OpenAI({ apiKey: 'unused', webhookSecret: process.env.WEBHOOK_SECRET })

// The body as it was received, before anything parses it.
const event = await client.webhooks.unwrap(body, request.headers)`

/** How a receiver verifies a callback. */
export function VerificationCode() {
  return (
    <section class="card" aria-label="Verify a callback">
      <div class="card-head">
        <h2>Verify a callback</h2>
      </div>
      <CodeBlock code={CODE} label="code" />
    </section>
  )
}
