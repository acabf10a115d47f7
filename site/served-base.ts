/** The path at which the server serves the site. A site that is published elsewhere has a base of its own. */
export const servedBase = '/docs';
