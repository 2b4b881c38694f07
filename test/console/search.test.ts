import test from 'ava';
import { nearestNames, prepareEntries, searchEntries } from '../../console/search.ts';

const entries = prepareEntries([
  { n: 'ListRepos', t: ['repos'], w: 'Lists repositories of a user.', m: 'user page' },
  { n: 'GetUser', t: ['users'], w: 'One user.', m: 'login id' },
  { n: 'UserKeys', t: ['users'], w: 'Keys.', m: 'key title' },
]);

/** Returns the names of the found operations. */
function found(words: string): readonly string[] {
  return searchEntries(entries, words).map(({ n }) => n);
}

test('search: names that start with the words come first, then other names, then members', (t) => {
  t.deepEqual(found('user'), ['UserKeys', 'GetUser', 'ListRepos']);
  t.deepEqual(found('LOGIN'), ['GetUser']);
});

test('every search word must be found, in any field', (t) => {
  t.deepEqual(found('users key'), ['UserKeys']);
  t.deepEqual(found('users nothing'), []);
  t.deepEqual(found('   '), []);
});

test('the names most similar to a misspelt one come first', (t) => {
  t.deepEqual(nearestNames(['GetSearch', 'GetPdf', 'DeleteClient'], 'GetSerch', 2), ['GetSearch', 'GetPdf']);
  t.deepEqual(nearestNames(['GetSearch'], 'Xyz', 2), []);
});
