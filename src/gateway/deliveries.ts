// Which events of the outside world came before (agent.md §7.6, §7.9). Implemented over the store by the composition root.

export interface Deliveries {
  /** True: never seen within `withinSeconds`, and noted now. False: a duplicate. Waits for a busy store as the store does. */
  isNew(platform: string, eventId: string, withinSeconds: number): Promise<boolean>;
}
