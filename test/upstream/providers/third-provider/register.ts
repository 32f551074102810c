import { VIDEO_PROVIDERS } from '#core/providers/registry.ts'
import { p3 } from './p3.ts'

// What the line in the registry does, for the modules that a test imports after this one.
Array.prototype.push.call(VIDEO_PROVIDERS, p3)
