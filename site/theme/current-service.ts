/**
 * Shortens the sidebar: the resources of a service are listed on its own pages, and the other services are a link each. Pages stay
 * small, and a reader without scripts needs to open nothing.
 */
import { defineRouteMiddleware, type StarlightRouteData } from '@astrojs/starlight/route-data';

type Entry = StarlightRouteData['sidebar'][number];

export const onRequest = defineRouteMiddleware(({ locals }) => {
  const route = locals.starlightRoute;
  route.sidebar = route.sidebar.map((group) =>
    group.type === 'group' ? { ...group, entries: group.entries.map(shortened) } : group,
  );
});

function shortened(entry: Entry): Entry {
  if (entry.type !== 'group' || entry.entries.some((inner) => inner.type === 'link' && inner.isCurrent))
    return entry;
  const [overview] = entry.entries;
  return overview?.type === 'link' ? { ...overview, label: entry.label } : entry;
}
