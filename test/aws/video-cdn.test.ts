import { KeyGroup } from 'aws-cdk-lib/aws-cloudfront'
import { describe, expect, it } from 'vitest'
import { VideoBucket } from '#stack/buckets.ts'
import { VideoCdn } from '#stack/video-delivery.ts'
import type { CustomDomain } from '../../lib/config/stage-settings.ts'
import { resourcesOf, synthesizeAlone } from './synthesize-stack.ts'

function synthesizeCdn(customDomain?: CustomDomain, corsOrigins: readonly string[] = []) {
  return synthesizeAlone((stack) => {
    const { bucket } = new VideoBucket(stack, 'VideoBucket', {
      outlivesStack: true,
      isEmptiedAtEnd: false,
      corsOrigins,
    })
    const keyGroup = KeyGroup.fromKeyGroupId(stack, 'KeyGroup', 'group-1')
    new VideoCdn(stack, 'VideoCdn', {
      bucket,
      keyGroup,
      customDomain,
      isOpenToBrowsers: corsOrigins.length > 0,
      isFrontDoor: false,
    })
  })
}

function configurationOf(template: ReturnType<typeof synthesizeCdn>) {
  return resourcesOf(template, 'AWS::CloudFront::Distribution')[0]?.properties.DistributionConfig
}

const template = synthesizeCdn()
const configuration = configurationOf(template)

describe('VideoCdn', () => {
  it('serves nothing without a signature by the key group', () => {
    expect(configuration.DefaultCacheBehavior.TrustedKeyGroups).toEqual(['group-1'])
    expect(configuration.CacheBehaviors).toBeUndefined()
  })

  it('caches nothing, so that a deleted video is not served again', () => {
    // AWS's policy CachingDisabled: all three lifetimes are 0. With a lifetime of 1 s or more even `private` is kept so long.
    expect(configuration.DefaultCacheBehavior.CachePolicyId).toBe('4135ea2d-6df8-44a3-9df3-4b5a84be39ad')
  })

  it('serves https only', () => {
    expect(configuration.DefaultCacheBehavior.ViewerProtocolPolicy).toBe('https-only')
  })

  it('reads the bucket with its own signed requests', () => {
    const [control] = resourcesOf(template, 'AWS::CloudFront::OriginAccessControl')
    expect(control?.properties.OriginAccessControlConfig).toMatchObject({
      OriginAccessControlOriginType: 's3',
      SigningBehavior: 'always',
      SigningProtocol: 'sigv4',
    })
    expect(configuration.Origins).toHaveLength(1)
    expect(configuration.Origins[0].OriginAccessControlId).toEqual({ 'Fn::GetAtt': [control?.id, 'Id'] })
  })

  it('forbids browsers to guess content types', () => {
    const [policy] = resourcesOf(template, 'AWS::CloudFront::ResponseHeadersPolicy')
    expect(policy?.properties.ResponseHeadersPolicyConfig.SecurityHeadersConfig.ContentTypeOptions).toEqual({
      Override: true,
    })
    expect(configuration.DefaultCacheBehavior.ResponseHeadersPolicyId).toEqual({ Ref: policy?.id })
  })

  it('serves no preflight and forwards no origin where the configuration allows none', () => {
    expect(configuration.DefaultCacheBehavior.AllowedMethods).toEqual(['GET', 'HEAD'])
    expect(configuration.DefaultCacheBehavior).not.toHaveProperty('OriginRequestPolicyId')
  })

  it('lets the bucket decide about origins: preflights reach it with all that a browser says of them', () => {
    const { DefaultCacheBehavior: behavior } = configurationOf(synthesizeCdn(undefined, ['https://app.example.com']))
    expect(behavior.AllowedMethods).toEqual(['GET', 'HEAD', 'OPTIONS'])
    // AWS's policy CORS-S3Origin: Origin, Access-Control-Request-Headers and Access-Control-Request-Method.
    expect(behavior.OriginRequestPolicyId).toBe('88a5eaf4-2fd4-4709-b370-b4c650ea3fcf')
    expect(behavior.TrustedKeyGroups).toEqual(['group-1'])
  })

  it('requires TLS 1.2 on a custom domain', () => {
    const certificateArn = 'arn:aws:acm:us-east-1:111111111111:certificate/0198b3a0'
    const ownDomain = configurationOf(synthesizeCdn({ domainName: 'videos.example.com', certificateArn }))
    expect(ownDomain.Aliases).toEqual(['videos.example.com'])
    expect(ownDomain.ViewerCertificate).toMatchObject({
      AcmCertificateArn: certificateArn,
      MinimumProtocolVersion: 'TLSv1.2_2021',
    })
  })
})
