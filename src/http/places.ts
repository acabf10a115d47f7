import type { Places } from './operation.ts';

const within = (places: Places | undefined) => (places === true ? undefined : places);

/** The places within each item of an array. */
export const placesInItems = (places: Places | undefined): Places | undefined => within(places)?.items;

/** The places within a member of an object. */
export function placesInMember(places: Places | undefined, name: string): Places | undefined {
  const { members, values } = within(places) ?? {};
  return members !== undefined && Object.hasOwn(members, name) ? members[name] : values;
}
