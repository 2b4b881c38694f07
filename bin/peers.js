// Run in a build of the image: makes the optional peer dependencies of package.json ordinary ones, in the versions that the
// lockfile has, so that `npm ci --omit=dev` installs them.
import { readFileSync, writeFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
for (const name of Object.keys(manifest.peerDependencies)) {
  manifest.dependencies[name] = manifest.devDependencies[name];
  delete manifest.devDependencies[name];
}
writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
