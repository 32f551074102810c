/**
 * The key in a template's `Metadata` that holds the validated gateway configuration of the functions: variables substituted,
 * simulators left out, keys of upstreams by name only. GetTemplate reads the deployed configuration from there. It is JSON in a string,
 * because metadata may hold no decimals (rule E4002 of cfn-lint).
 */
export const CONFIGURATION_METADATA = 'ReelgateConfiguration'
