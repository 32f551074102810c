import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { TaskJournal } from '../../../lib/simulators/shared/task-journal.ts'
import { withP1 } from '../p1/p1-client.ts'
import { P2_TASKS_PATH, p2Body, proxyBody, withP2, withProxy } from '../p2/p2-client.ts'
import { at, call } from './simulator-client.ts'

async function withFile(use: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'))
  try {
    await use(join(folder, 'made-when-needed', 'tasks.jsonl'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe('a simulator with a state file', () => {
  it('knows its tasks after a restart, the cancelled and the removed ones too', async () => {
    await withFile(async (stateFile) => {
      const ids: string[] = []
      await withP2({ stateFile }, async ({ start, clock, simulator }) => {
        ids.push(await start(p2Body('old')))
        clock.advanceSeconds(4)
        ids.push(await start(p2Body('[fail]')), await start(p2Body('cancelled')))
        for (const taskId of [ids[0], ids[2]]) {
          await call(simulator, `${P2_TASKS_PATH}/${taskId}`, { method: 'DELETE' })
        }
      })
      appendFileSync(stateFile, '{"kind":"added","task":{"id":"cut of')
      await withP2({ stateFile }, async ({ poll, clock, start }) => {
        clock.advanceSeconds(8)
        const statuses = await Promise.all(ids.map(async (taskId) => at((await poll(taskId)).body, 'status')))
        expect(statuses).toEqual([undefined, 'failed', 'cancelled'])
        expect(await start(p2Body('new'))).toMatch(/^cgt-/)
      })
    })
  })

  it('hands out results of P1 and of the proxy after a restart', async () => {
    await withFile(async (stateFile) => {
      let taskId = ''
      await withP1({ stateFile }, async ({ start }) => {
        taskId = await start('a cat')
      })
      await withP1({ stateFile }, async ({ poll, clock, simulator }) => {
        clock.advanceSeconds(4)
        const url = String(at((await poll(taskId)).body, 'output', 'video_url'))
        expect((await call(simulator, url)).status).toBe(200)
      })
    })
    await withFile(async (stateFile) => {
      let taskId = ''
      await withProxy({ stateFile }, async ({ start }) => {
        taskId = await start(proxyBody('a cat'))
      })
      await withProxy({ stateFile }, async ({ poll }) => {
        expect((await poll(taskId)).status).toBe(200)
      })
    })
  })
})

describe('task-journal: a file whose last line a crash has cut', () => {
  it('keeps its whole lines', async () => {
    await withFile(async (file) => {
      const line = { kind: 'removed' as const, id: 'one' }
      mkdirSync(dirname(file))
      writeFileSync(file, `${JSON.stringify(line)}\n{"kind":"remo`)
      expect(new TaskJournal(file, z.object({})).read()).toEqual([line])
      expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(line)}\n`)
    })
  })
})
