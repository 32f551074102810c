import type { ContextValues } from './context-schema.ts'

/** The distribution as the front door of console, admin API and API. */
export type FrontDoorSettings = {
  /** Whether the API's own address refuses requests. */
  readonly isApiClosed: boolean
  /** A web ACL of scope CLOUDFRONT; undefined for none. */
  readonly webAclArn: string | undefined
  /** The distribution, for its alarm in us-east-1; undefined for no alarm there. */
  readonly distributionId: string | undefined
  /** Version of the front door's secret that is deployed; undefined for the current one. */
  readonly secretVersion: string | undefined
}

/** The front door of a stage. Undefined without a console, and without a distribution: with `cdn=off` and on emulators. */
export function frontDoorSettings(values: ContextValues): FrontDoorSettings | undefined {
  return values.console === 'on' && values.cdn === 'on' && !values.emulator
    ? {
        isApiClosed: values.apiClosed,
        webAclArn: values.frontDoorWebAclArn,
        distributionId: values.frontDoorDistributionId,
        secretVersion: values.frontDoorSecretVersion,
      }
    : undefined
}
