// npm scripts `prepare` and `prepack`: build dist/ in a clone, also for `npm install git+…`. A package contains dist/
// but no sources.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { npm_command: command, npm_lifecycle_event: event } = process.env;
// npm pack and npm publish run both scripts
const isSecond = event === 'prepare' && (command === 'pack' || command === 'publish');
if (existsSync(`${root}tsconfig.build.json`) && !isSecond) {
  if (isInstalled('typescript/package.json')) {
    const { status } = spawnSync('npm', ['run', 'build'], { cwd: root, stdio: 'inherit', shell: true });
    process.exitCode = status ?? 1;
  } else console.log('soapbridge: not built, because the development dependencies are not installed');
}

function isInstalled(file) {
  try {
    createRequire(import.meta.url).resolve(file);
    return true;
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return false;
    throw error;
  }
}
