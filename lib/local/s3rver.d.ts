/** The part of s3rver (a Koa application) that the local host uses; the package has no types. */
declare module 's3rver' {
  import type { IncomingMessage, Server, ServerResponse } from 'node:http'

  type Next = () => Promise<unknown>
  type KoaContext = {
    readonly req: IncomingMessage
    readonly method: string
    readonly path: string
    readonly query: Record<string, string | undefined>
    get(header: string): string
    status: number
    type: string
    body: unknown
  }
  type StoredObject = { readonly bucket: string; readonly key: string; readonly content: unknown }
  type FilesystemStore = {
    putObject(object: StoredObject): Promise<{ size: number; md5: string }>
    getResourcePath(bucket: string, key: string, resource: string): string
  }
  type S3rverOptions = {
    address?: string
    port?: number
    directory: string
    silent?: boolean
    vhostBuckets?: boolean
    configureBuckets?: { name: string }[]
  }

  export default class S3rver {
    constructor(options: S3rverOptions)
    readonly store: FilesystemStore
    readonly middleware: ((context: KoaContext, next: Next) => Promise<unknown>)[]
    /** Known after `run`. */
    readonly httpServer: Server
    run(): Promise<{ address: string; port: number }>
    close(): Promise<void>
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}

/** The accounts whose signatures s3rver accepts. */
declare module 's3rver/lib/models/account.js' {
  const account: { readonly DUMMY_ACCOUNT: { createKeyPair(accessKeyId: string, secretAccessKey: string): void } }
  export default account
}
