/**
 * Seeds of histories that broke a rule once, with what was wrong. They are run every time. A change of the product that sends other
 * requests changes what happens in them.
 */
export const REGRESSIONS: ReadonlyMap<number, string> = new Map([
  [102, 'a channel left the configuration before its finished job was settled, and the usage was not read'],
  [289, 'the same befell a job whose execution had been replaced'],
])
