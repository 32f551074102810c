import { startS3Engine } from '#local/s3-engine.ts'

/** The local S3 engine over a directory, in a process of its own, for one pair of credentials; says its endpoint to its parent. */
const [directory = '', bucketName = '', accessKeyId = '', secretAccessKey = ''] = process.argv.slice(2)
const { endpoint } = await startS3Engine({ directory, bucketName, credentials: { accessKeyId, secretAccessKey } }, {})
process.send?.(endpoint)
