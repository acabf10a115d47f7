/** Gives the generator its pages: the guides as it renders their Markdown, and the reference as HTML. */
import { docsSchema } from '@astrojs/starlight/schema';
import { defineCollection } from 'astro/content/config';
import { z } from 'astro/zod';
import type { Loader, LoaderContext } from 'astro/loaders';
import { docsFolder, readGuides, withFocusableScrollers, withSiteImages, withSiteLinks } from './guides.ts';
import { type Heading, referenceLinks, referencePages } from './reference/pages.ts';
import { readServices, type Service } from './reference/services.ts';
import { servedBase } from './served-base.ts';

interface Entry {
  readonly slug: string;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly more?: Readonly<Record<string, unknown>>;
}

const pages: Loader = {
  name: 'plinth',
  async load(context) {
    const { store } = context;
    store.clear();
    for (const { slug, title, html, headings, more } of [
      missing(context),
      ...(await guides(context)),
      ...reference(context),
    ])
      store.set({
        id: slug,
        data: await context.parseData({ id: slug, data: { title, ...more } }),
        filePath: `content/docs/${slug}.md`,
        rendered: { html, metadata: { headings: [...headings] } },
      });
  },
};

/** What is shown for an address that the site does not have. */
const missing = (context: LoaderContext): Entry => ({
  slug: '404',
  title: 'This page does not exist',
  html: `<p>The address may be old or mistyped. <a href="${baseOf(context)}">The first page</a> leads to all others.</p>`,
  headings: [],
  more: { pagefind: false, tableOfContents: false, prev: false, next: false },
});

const baseOf = ({ config }: LoaderContext): string => `${config.base.replace(/\/$/, '')}/`;

async function guides(context: LoaderContext): Promise<Entry[]> {
  const all = readGuides();
  const base = baseOf(context);
  const services = readServices();
  return await Promise.all(
    all.map(async (guide) => {
      const { slug, title, file } = guide;
      const { html, metadata } = await context.renderMarkdown(withSiteImages(guide, base), {
        fileURL: new URL(file, docsFolder),
      });
      const added = referenceLinks(slug, services, base);
      return {
        slug,
        title,
        html: withFocusableScrollers(withSiteLinks(html, guide, all, base)) + (added?.html ?? ''),
        headings: [...(metadata?.headings ?? []), ...(added ? [added.heading] : [])],
      };
    }),
  );
}

function reference(context: LoaderContext): Entry[] {
  const base = baseOf(context);
  const slugs = new Set(readGuides().map(({ slug }) => slug));
  const of = ({ name, served }: Service) => [
    ...(slugs.has(`services/${name}`) ? [[`${base}services/${name}/`, 'Guide'] as const] : []),
    // A published site has no server beside it.
    ...(served && base === `${servedBase}/`
      ? [
          [`/${name}/docs`, 'Interactive reference'] as const,
          [`/${name}/openapi.json`, 'OpenAPI document'] as const,
        ]
      : []),
  ];
  return readServices()
    .flatMap((service) => referencePages(service, { base, of }))
    .map(({ service, description, ...page }) => ({
      ...page,
      more: { description, ...titleParts(page.title, service) },
    }));
}

/** The title of a page of the reference names its service too, since several services have roles, and guides have their names. */
const titleParts = (title: string, service = 'Reference') => ({
  service,
  head: [{ tag: 'title', content: `${title} | ${service} | Plinth` }],
});

const schema = docsSchema({ extend: z.object({ service: z.string().optional() }) });

export const collections = { docs: defineCollection({ loader: pages, schema }) };
