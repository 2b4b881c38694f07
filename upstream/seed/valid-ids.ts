import { foldName } from '../operations/valid-ids.ts';
import { demo, other } from './accounts.ts';
import type { Seeding } from './seed.ts';

const names = [
  'Aoife Ní Cheana',
  'Björk Tilbúinsdóttir',
  "Conor O'Nobody",
  'Dvořák Smyšlený',
  'Élodie Exemple',
  '测试 样本',
  'Frida Påhitt',
  'Łukasz Zmyślony',
  'Grace Hopperless',
  'Höskuldur Ímyndaður',
  "Isla D'Imaginaire",
  '架空 太郎',
  'José Ficticio-Núñez',
  'Kwame Placeholder',
  'Nguyễn Văn Mẫu',
  'Mary Sample',
  'Søren Opdigtet',
  '홍보기 예시',
  'Ümit Uydurma',
];
const owners = ['owner', 'owner', 'jane', 'owner', 'bob'] as const;
const outcomes = [
  { status: 'Passed', score: 95 },
  { status: 'Passed', score: 80 },
  { status: 'Refer', score: 55 },
  { status: 'Failed', score: 10 },
] as const;

/** Creates 57 ValidID searches over two years, oldest first. Ids 20 and 21 have the same date. */
export function seedValidIds({ insert, at }: Seeding): void {
  for (let id = 1; id <= 57; id += 1) {
    const fullName = names[id % names.length] ?? '';
    const outcome = outcomes[id % outcomes.length] ?? outcomes[0];
    // The newest three still wait for the person, so they have no score.
    const waiting = id > 54;
    const searched = id === 21 ? 20 : id;
    const minutes = String((searched * 7) % 60).padStart(2, '0');
    insert('valid_id_search', {
      id,
      account: demo,
      owner: owners[id % owners.length] ?? 'owner',
      type: 1 + (id % 4),
      score: waiting ? null : outcome.score,
      status: waiting ? 'Pending' : outcome.status,
      date_searched: at((searched - 57) * 13 - 1, `09:${minutes}:30`),
      reference: id % 10 === 0 ? null : `CASE-${String(id % 12).padStart(2, '0')}`,
      pep_error: Number(id % 19 === 0),
      replacement_search_id: id === 10 ? 30 : null,
      has_completed_request: Number(!waiting),
      has_completed_search: Number(!waiting),
      full_name: fullName,
      folded_name: foldName(fullName),
      date_of_birth: id % 9 === 0 ? null : Date.UTC(1950 + id, id % 12, 1 + (id % 28)),
      gender: id % 3 === 0 ? null : id % 2 === 0 ? 'Female' : 'Male',
      address: id % 8 === 0 ? null : `${id} Invented Street, Nowhere`,
    });
  }
  insert('valid_id_search', {
    id: 904,
    account: other,
    owner: 'boss',
    type: 1,
    score: 70,
    status: 'Passed',
    date_searched: at(-8, '10:10'),
    reference: 'CASE-01',
    pep_error: 0,
    has_completed_request: 1,
    has_completed_search: 1,
    full_name: 'Mary Sample',
    folded_name: foldName('Mary Sample'),
    date_of_birth: Date.UTC(1980, 0, 2),
    gender: 'Female',
    address: '1 Other Road',
  });
}
