/**
 * Calls listeners one after the other. What one of them throws is an error of the program that nobody caught, as with the events of the
 * platform; it keeps neither the other listeners nor the replica from their work.
 */
export function tell<Args extends readonly unknown[]>(
  listeners: Iterable<(...args: Args) => void>,
  ...args: Args
): void {
  for (const listener of [...listeners])
    try {
      listener(...args);
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
}
