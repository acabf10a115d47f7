/** Somebody who gets events: each pattern names an event, a group of them such as `user.*`, or everything (`*`). */
export interface Subscriber {
  readonly events: readonly string[];
}

/** The patterns that match this event: everything, its groups from the widest to the narrowest, and the event itself. */
export function patternsOf(type: string): string[] {
  const segments = type.split('.');
  const groups = segments.slice(1).map((_, at) => `${segments.slice(0, at + 1).join('.')}.*`);
  return ['*', ...groups, type];
}

/** Those of the subscribers who get this event. */
export function subscribersTo<Kind extends Subscriber>(type: string, subscribers: readonly Kind[]): Kind[] {
  const patterns = new Set(patternsOf(type));
  return subscribers.filter(({ events }) => events.some((pattern) => patterns.has(pattern)));
}
