import { type LoadOrder, runLoad } from './run-load.ts'

/** Runs the load that its parent sends, and answers the figures. A process of its own, so that it has a processor of its own. */
process.once('message', (order: LoadOrder) => {
  void runLoad(order).then((figures) => process.send?.(figures, () => process.disconnect()))
})
