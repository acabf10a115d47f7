import starlight from '@astrojs/starlight';
import { defineConfig } from 'astro/config';
import { servedBase } from './served-base.ts';
import { sidebar } from './sidebar.ts';

export default defineConfig({
  srcDir: '.',
  cacheDir: '.astro/cache',
  base: servedBase,
  trailingSlash: 'always',
  build: { inlineStylesheets: 'never' },
  image: { service: { entrypoint: 'astro/assets/services/noop' } },
  // The server's own dependencies include an older version, which the pages must not find in its place.
  vite: { cacheDir: '.astro/vite', environments: { prerender: { resolve: { noExternal: ['cookie'] } } } },
  integrations: [
    starlight({
      title: 'Plinth',
      description: 'Fourteen platform services behind one contract.',
      customCss: ['./theme/colors.css', './theme/layout.css', './theme/reference.css'],
      components: { PageTitle: './theme/PageTitle.astro', Search: './theme/Search.astro' },
      routeMiddleware: './theme/current-service.ts',
      sidebar: sidebar(),
      // Without scripts, the colours of code follow the system's preference as those of the page do.
      expressiveCode: {
        useDarkModeMediaQuery: true,
        defaultProps: { frame: 'none' },
        styleOverrides: { borderRadius: '0.5rem' },
      },
    }),
  ],
});
