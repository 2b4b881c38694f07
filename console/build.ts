import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Bundles the pages' script into dist/console/client, next to the style sheets and the texts. `npm run build` runs it,
// so that a clone and the package contain the bundle. Without esbuild, a development dependency, the pages have no
// script.

const root = new URL('..', import.meta.url);
const out = new URL('dist/console/client/', root);

async function bundle(): Promise<void> {
  const esbuild = await import('esbuild').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  });
  if (esbuild === undefined) {
    console.log('console: esbuild is not installed, so the documentation pages have no script');
    return;
  }
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  // one after the other, so that the documentation pages load no file that they share with the operator console
  for (const entry of ['console/client/main.ts', 'console/client/operators/operators.ts'])
    await esbuild.build({
      absWorkingDir: fileURLToPath(root),
      entryPoints: [entry],
      outdir: fileURLToPath(out),
      entryNames: '[name]-[hash]',
      chunkNames: '[name]-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      target: ['es2022'],
      minify: true,
      legalComments: 'eof',
      logLevel: 'warning',
    });
  for (const file of ['pages.css', 'operators.css', 'icon.svg'])
    cpSync(new URL(`console/client/${file}`, root), new URL(file, out));
  cpSync(new URL('console/texts/', root), new URL('dist/console/texts/', root), { recursive: true });
}

await bundle();
