/** Shortens a name that a client chose, so that a message can repeat it. */
export function clipped(name: string): string {
  return name.length > 64 ? `${name.slice(0, 63)}…` : name;
}
