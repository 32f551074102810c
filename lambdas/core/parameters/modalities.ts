/** What a chat model may take or give, in the words of model lists of other services. */
export const MODALITIES = ['text', 'image', 'audio', 'video', 'file'] as const
