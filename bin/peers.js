// Used in the image build. Turns the optional peer dependencies of package.json into ordinary dependencies with the
// versions of the lockfile, so that `npm ci --omit=dev` installs them.
import { readFileSync, writeFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
for (const name of Object.keys(manifest.peerDependencies)) {
  manifest.dependencies[name] = manifest.devDependencies[name];
  delete manifest.devDependencies[name];
}
writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
