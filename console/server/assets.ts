import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { AssetNames } from './layout.ts';

/** A file that pages refer to. */
export interface Asset {
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly contentType: string;
}

/** All files that pages refer to. */
export interface Assets {
  readonly names: AssetNames;
  /** Files by name. Names contain a digest of the content, so that browsers can cache the files. */
  readonly files: ReadonlyMap<string, Asset>;
}

const contentTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Folder of the script bundled by `npm run prepare`, relative to the source and to the build. */
const bundle = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/console/client/' : '../client/',
  import.meta.url,
);
const own = new URL('../client/', import.meta.url);

/** Style sheets and first script of each set of pages. */
const sets = {
  documentation: { styles: ['pages.css'], script: 'main-' },
  operators: { styles: ['pages.css', 'operators.css'], script: 'operators-' },
} as const;

type SetName = keyof typeof sets;

const known = new Map<SetName, Assets>();

/** Returns the files, which are read on first use. Without a bundle, pages have style sheets and no script. */
export function assets(set: SetName = 'documentation'): Assets {
  const found = known.get(set) ?? readAssets(set);
  known.set(set, found);
  return found;
}

function readAssets(set: SetName): Assets {
  const files = new Map<string, Asset>();
  const add = (name: string, bytes: Buffer): string => {
    const type = name.slice(name.lastIndexOf('.') + 1);
    files.set(name, {
      bytes,
      gzip: gzipSync(bytes),
      contentType: contentTypes[type] ?? 'application/octet-stream',
    });
    return name;
  };
  const styles = sets[set].styles.map((file) => {
    const style = readFileSync(new URL(file, own));
    const digest = createHash('sha256').update(style).digest('hex').slice(0, 10);
    return add(file.replace('.css', `-${digest}.css`), style);
  });
  add('icon.svg', readFileSync(new URL('icon.svg', own)));
  let script: string | undefined;
  for (const name of bundled()) {
    const isOfOther = Object.values(sets).some(
      (other) => other !== sets[set] && name.startsWith(other.script),
    );
    if (isOfOther) continue;
    add(name, readFileSync(new URL(name, bundle)));
    if (name.startsWith(sets[set].script)) script = name;
  }
  return { names: { styles, script }, files };
}

function bundled(): readonly string[] {
  try {
    return readdirSync(bundle).filter((name) => name.endsWith('.js'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
