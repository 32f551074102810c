import { startS3Engine } from '#local/s3-engine.ts'

/** The local S3 engine over a directory, in a process of its own; says its endpoint to its parent. */
const [directory = '', bucketName = ''] = process.argv.slice(2)
const { endpoint } = await startS3Engine({ directory, bucketName }, {})
process.send?.(endpoint)
