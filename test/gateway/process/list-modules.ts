import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// Loaded with `--import`. Writes the URLs of all modules that a process loads to the file MODULES_FILE, one per line.
// Node's own modules are listed only if a TypeScript module imports them.

const urls = new Set<string>();
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context);
    if (!found.url.startsWith('node:') || context.parentURL?.endsWith('.ts') === true) urls.add(found.url);
    return found;
  },
});
process.on('exit', () => writeFileSync(process.env.MODULES_FILE ?? '', [...urls].join('\n')));
