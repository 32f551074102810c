import project from '../../jest.config.js'

/** The tests of this folder alone, in which Lambda's own runtime client runs what a deployment would upload. */
export default {
  ...project,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/lambda-runtime/*.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  verbose: true,
}
