const longestSlug = 63;

/**
 * Derives the slug of a role created without one: its name in lower case, with every run of other characters as `-`, from its
 * first letter or digit to its last. A name without letters or digits gives the suffix of the id.
 */
export function slugOf(name: string, id: string): string {
  const slug = trimmed(trimmed(name.toLowerCase().replace(/[^a-z0-9_.-]+/g, '-')).slice(0, longestSlug));
  return slug || id.slice(id.lastIndexOf('_') + 1);
}

const trimmed = (text: string) => text.replace(/^[^a-z0-9]+/, '').replace(/[^a-z0-9]+$/, '');
