import { VIDEO_PROVIDERS } from '#core/providers/registry.ts'
import { third } from './third.ts'

// What the line in the registry does, for the modules that a test imports after this one.
Array.prototype.push.call(VIDEO_PROVIDERS, third)
