/** Maximum number of tables of a data set. */
export const mostTables = 256;
/** Maximum number of tags that the removals of a push name together. */
export const mostTags = 20_000;
/** Maximum size of the elements that the removals of a push take back, each counted for every tag but its first. */
export const mostTaggedBytes = 8 * 1024 ** 2;
/** The bytes of values at which a page of changes or records ends. */
export const pageBytes = 4 * 1024 ** 2;
/** Bytes that a change or a cell has besides its value, roughly. */
export const cellBytes = 300;
/** Maximum number of nodes on a topic. */
export const mostNodes = 1_000;
/** Maximum number of topics of a node. */
export const mostTopics = 100;
/** Maximum size of the data of a presence, in bytes of its canonical form. */
export const mostPresenceBytes = 10_240;
