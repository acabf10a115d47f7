/** The pages of the reference: one for each service, and one for each of its resources. */
import { markup } from '../../src/http/html.ts';
import { operationSection } from './operation.ts';
import { prose } from './prose.ts';
import { type Resource, type Service } from './services.ts';
import { firstSentence } from '../../spec/codegen/source.ts';
import { serviceIntroduction, serviceSections } from './service-page.ts';

export interface Heading {
  readonly depth: number;
  readonly slug: string;
  readonly text: string;
}

export interface ReferencePage {
  /** Its address within the site, without slashes at the ends. */
  readonly slug: string;
  readonly title: string;
  /** The title of the service, on pages of its resources. */
  readonly service?: string;
  readonly description: string;
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** What the pages link to besides each other. */
export interface Links {
  /** The path of the site, with a slash at the end. */
  readonly base: string;
  /** Links of a service's page to the server that serves the site, and to other pages. */
  readonly of: (service: Service) => readonly (readonly [href: string, text: string])[];
}

export const serviceSlug = ({ name }: Service): string => `reference/${name}`;

export const resourceSlug = (service: Service, { slug }: Resource): string =>
  `${serviceSlug(service)}/${slug}`;

export function referencePages(service: Service, links: Links): ReferencePage[] {
  return [
    servicePage(service, links),
    ...service.resources.map((resource) => resourcePage(service, resource, links)),
  ];
}

function servicePage(service: Service, { base, of }: Links): ReferencePage {
  const surroundings = {
    pageOf: (resource: Resource) => `${base}${resourceSlug(service, resource)}/`,
    links: of(service),
  };
  const sections = serviceSections(service, surroundings);
  const parts = sections.map(
    ({ id, title, content }) => markup`<section><h2 id="${id}">${title}</h2>${content}</section>`,
  );
  return {
    slug: serviceSlug(service),
    title: service.title,
    description: firstParagraph(service.description),
    html: markup`<div class="reference">${serviceIntroduction(service, surroundings)}${parts}</div>`.toString(),
    headings: sections.map(({ id, title }) => ({ depth: 2, slug: id, text: title })),
  };
}

function resourcePage(service: Service, resource: Resource, { base }: Links): ReferencePage {
  const front = `${base}${serviceSlug(service)}/`;
  const sections = resource.operations.map((operation) => operationSection(service, operation, front));
  return {
    slug: resourceSlug(service, resource),
    title: resource.title,
    service: service.title,
    description: firstParagraph(resource.description),
    html: markup`<div class="reference">${prose(resource.description)}${sections}</div>`.toString(),
    headings: resource.operations.map(({ id, summary }) => ({
      depth: 2,
      slug: id,
      // A contents list needs no more than what an operation does.
      text: summary.replaceAll('`', '').split(/[;,]/, 1)[0]!,
    })),
  };
}

const firstParagraph = (text: string): string =>
  text.split('\n\n', 1)[0]!.replaceAll(/[\s]+/g, ' ').replaceAll('`', '');

/** The end of the first page and of the guide of a service: the way to the reference. */
export function referenceLinks(
  guide: string,
  services: readonly Service[],
  base: string,
): { readonly html: string; readonly heading: Heading } | undefined {
  const meant = services.filter(({ name }) => guide === 'index' || guide === `services/${name}`);
  if (meant.length === 0) return undefined;
  const items = meant.map(
    (service) =>
      markup`<li><a href="${base}${serviceSlug(service)}/">${service.title}</a>: ${firstSentence(service.description)}</li>`,
  );
  return {
    html: markup`<h2 id="reference">Reference</h2><ul>${items}</ul>`.toString(),
    heading: { depth: 2, slug: 'reference', text: 'Reference' },
  };
}
