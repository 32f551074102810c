import { believedUsage, type ChatUsage, readChatUsage } from '#core/quota/token-usage.ts'
import type { LargeReply } from '../large-reply.ts'
import type { PromptRun } from './completion-exchange.ts'

/**
 * Keeps for the bill what there is of a call that our own bound cut: of a whole answer, which costs nothing if it is no chat
 * answer at all, or of a stream, whose usage was read already.
 */
export function keepCut(
  prompt: PromptRun,
  cut: Pick<LargeReply, 'usage' | 'entries'> | { readonly usage: ChatUsage | undefined },
  withinBounds: (usage: ChatUsage) => ChatUsage,
): void {
  if ('entries' in cut && cut.entries === 0) {
    return
  }
  const reported = 'entries' in cut ? believedUsage(readChatUsage(cut.usage), true) : cut.usage
  prompt.cut = { kind: 'cut', usage: reported && withinBounds(reported), textBytes: 0 }
  prompt.isUnderWay = false
}
