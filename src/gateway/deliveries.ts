// Which events of the outside world came before (agent.md §7.6, §7.9). Implemented over the store by the composition root.

export interface Deliveries {
  /** True: never seen within `withinSeconds`, and noted now. False: a duplicate. Errors are those of the store. */
  isNew(platform: string, eventId: string, withinSeconds: number): Promise<boolean>;
  /** It could not be taken after all: its sender may send it again. */
  forget(platform: string, eventId: string): Promise<void>;
}
