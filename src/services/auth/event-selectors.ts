/** What a webhook may have asked for to be told of this event: the event, its groups, or everything. */
export function selectorsOf(type: string): string[] {
  const [family = '', resource, verb] = type.split('.');
  const groups = verb === undefined ? [`${family}.*`] : [`${family}.*`, `${family}.${resource}.*`];
  return ['*', ...groups, type];
}
