import { Logger } from '@aws-lambda-powertools/logger'

/**
 * The one structured logger. Keys are stable (`jobId`, `tenantId`, `channelId`, `operation`);
 * api keys, prompts, references and signed urls are never logged.
 */
export const logger = new Logger({ serviceName: process.env.POWERTOOLS_SERVICE_NAME ?? 'reelgate' })
