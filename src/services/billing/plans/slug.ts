const longestSlug = 63;

/** Derives the slug of a plan that is created without one: `Größe Élite` gives `gro-e-elite`. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, longestSlug) || 'plan';
