import { Logger } from '@aws-lambda-powertools/logger'

/**
 * The one structured logger. Field names are stable (`jobId`, `tenantId`, `channelId`, `operation`). API keys, prompts,
 * references and signed URLs are never logged.
 */
export const logger = new Logger({ serviceName: process.env.POWERTOOLS_SERVICE_NAME ?? 'reelgate' })
