import type { Pages, PagesOptions } from '../../gateway/http/pages.ts';
import { compilePageRequests } from './requests.ts';

/** Creates the pages of a contract. Their modules are loaded at the first visit, so that the gateway starts faster. */
export function createPages(options: PagesOptions): Pages {
  const pageRequestOf = compilePageRequests(options.compiled.contract);
  let pages: Promise<Pages> | undefined;
  const load = async (): Promise<Pages> => (await import('./pages.ts')).createPages(options);
  return {
    takes: (request, path, query) => pageRequestOf(request, path, query) !== undefined,
    handle: async (request, response, readBody) => {
      pages ??= load();
      return (await pages).handle(request, response, readBody);
    },
  };
}
