import type { ChannelRow } from '../../api/admin-types.ts'

/** What an owner may do with a channel or a model. */
export type SwitchAction =
  | {
      readonly kind: 'channel-state'
      readonly id: string
      readonly isDisabled: boolean
      readonly openJobs: number | null
    }
  | { readonly kind: 'channel-share'; readonly row: ChannelRow }
  | { readonly kind: 'channel-clear' | 'model-clear'; readonly id: string }
  | { readonly kind: 'model-state'; readonly id: string; readonly isDisabled: boolean }
