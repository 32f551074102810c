import * as z from 'zod/mini'
import { microcredits } from '#core/money.ts'

/** An amount of microcredits in an item. The codec reads large ones as bigint. */
export const storedAmount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))
