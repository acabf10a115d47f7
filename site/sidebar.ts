/** The sidebar: the guides in the order of their index, then the reference. */
import type { StarlightUserConfig } from '@astrojs/starlight/types';
import { groupsOf, readGuides } from './guides.ts';
import { resourceSlug, serviceSlug } from './reference/pages.ts';
import { readServices, type Service } from './reference/services.ts';

type Sidebar = NonNullable<StarlightUserConfig['sidebar']>;

export function sidebar(): Sidebar {
  const services = readServices();
  const groups = [
    { label: 'Reference', services: services.filter(({ served }) => served) },
    { label: 'Contract and mock only', services: services.filter(({ served }) => !served) },
  ];
  return [
    ...groupsOf(readGuides()).map(({ label, guides }) => ({
      label,
      items: guides.map(({ title, slug }) => ({ label: title, link: `/${slug}/` })),
    })),
    ...groups.map((group) => ({ label: group.label, items: group.services.map(serviceGroup) })),
  ];
}

function serviceGroup(service: Service) {
  const resources = service.resources.map((resource) => ({
    label: resource.title,
    link: `/${resourceSlug(service, resource)}/`,
  }));
  return {
    label: service.title,
    items: [{ label: 'Overview', link: `/${serviceSlug(service)}/` }, ...resources],
  };
}
