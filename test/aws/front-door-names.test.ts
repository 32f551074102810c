import { Stack } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import { accountWide } from '#stack/video-delivery.ts'

describe('accountWide', () => {
  it('names stack and region, because CloudFront has one set of names for an account', () => {
    const parts = [{ Ref: 'AWS::StackName' }, '-relay-', { Ref: 'AWS::Region' }]
    expect(new Stack().resolve(accountWide('relay'))).toEqual({ 'Fn::Join': ['', parts] })
  })
})
