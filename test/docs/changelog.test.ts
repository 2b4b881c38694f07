import { readFileSync } from 'node:fs';
import test from 'ava';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const changelog = read('CHANGELOG.md');
const { version }: { version: string } = JSON.parse(read('package.json'));

test('CHANGELOG.md has a heading for the version of package.json', (t) => {
  t.is(/^## (\d+\.\d+\.\d+)/m.exec(changelog)?.[1], version);
});

test('CHANGELOG.md has the headings of Keep a Changelog', (t) => {
  const headings = [...changelog.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];
  t.deepEqual(
    headings.filter((heading = '') => !known.includes(heading)),
    [],
  );
  t.true(headings.length > 0);
});

test('a release in CHANGELOG.md has at most 80 lines of at most 120 characters', (t) => {
  for (const release of changelog.split(/^(?=## )/m)) {
    const lines = release.split('\n');
    t.true(lines.length <= 80, `${lines[0]}: ${lines.length} lines`);
    t.deepEqual(
      lines.filter((line) => line.length > 120),
      [],
    );
  }
});

for (const [file, form] of [
  ['package-lock.json', /^ {2}"version": "([^"]+)"/m],
  ['docs/tutorial.md', /soapbridge-(\d[\d.]*\d)\.tgz/],
  ['docs/deploy.md', /registry\.example\/soapbridge:(\d[\d.]*\d)/],
  ['deploy/helm/soapbridge/Chart.yaml', /^appVersion: (.+)$/m],
  ['deploy/kubernetes/base/kustomization.yaml', /newTag: (.+)$/m],
  ['deploy/systemd/soapbridge.service', /soapbridge-(\d[\d.]*\d)\.tgz/],
] as const) {
  test(`${file} names the version of package.json`, (t) => {
    const named = [...read(file).matchAll(new RegExp(form, `g${form.flags}`))].map(([, each]) => each);
    t.deepEqual([...new Set(named)], [version]);
  });
}
