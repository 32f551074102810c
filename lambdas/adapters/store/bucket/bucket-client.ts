/** What the gateway takes of the bucket's client, named so that a bundle keeps nothing else of it. */
export { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
