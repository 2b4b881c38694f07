import type { SQLInputValue } from 'node:sqlite';
import type { Store } from '../database.ts';
import { day } from '../operations/operation.ts';
import { demo, other, seedAccounts } from './accounts.ts';
import { seedSanctions } from './sanctions.ts';
import { seedValidIds } from './valid-ids.ts';

/** Functions for writing seed data. `at(-3, '14:20')` returns 14:20 on the day three days before the clock's day. */
export interface Seeding {
  /** Inserts one row. Table and column names are from the seed's source code. */
  readonly insert: (table: string, row: Readonly<Record<string, SQLInputValue>>) => void;
  readonly at: (days: number, time?: string) => number;
}

/** Fills an empty database. Equal clock values give equal rows. All names are invented (R2, R3, R4). */
export function seed(store: Store, now: number): void {
  const today = Math.floor(now / day) * day;
  const seeding: Seeding = {
    insert(table, row) {
      const columns = Object.keys(row);
      store.run(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map((column) => `:${column}`).join(', ')})`,
        row,
      );
    },
    at: (days, time = '00:00') => today + days * day + Date.parse(`1970-01-01T${time}Z`),
  };
  seedAccounts(seeding);
  seedSanctions(seeding);
  seedDbsSearches(seeding);
  seedPepSearches(seeding);
  seedValidIds(seeding);
  seedClients(seeding);
  seedDocuments(seeding);
}

/** Returns the flags of a criminal record search with `count` completed steps. */
const stepsDone = (count: number) => ({
  is_applicant_info_completed: Number(count > 0),
  is_id_check_completed: Number(count > 1),
  is_application_completed: Number(count > 2),
  is_application_submitted: Number(count > 3),
  is_application_disclosed: Number(count > 4),
});

/** Applicants of the searches of criminal records. */
const applicants = {
  sian: {
    name: 'Siân Ffug-Enw',
    dateOfBirth: '1984-02-29',
    email: 'sian@applicant.example',
    mobileInternational: '+441632960001',
    jobLocation: 'Llanfair & District',
    reference: 'DBS-0001',
    applicantPin: '004217',
  },
  hanako: {
    name: '架空 花子',
    dateOfBirth: '1991-07-15',
    email: null,
    mobileInternational: '+441632960002',
    jobLocation: 'Remote',
    reference: null,
    applicantPin: '190433',
  },
  sean: {
    name: "Seán D'Exemple",
    dateOfBirth: '1970-01-01',
    email: 'sean@applicant.example',
    mobileInternational: '+441632960003',
    jobLocation: 'Port Madeup',
    reference: 'DBS-0003',
    applicantPin: '775120',
  },
};

/** Searches of criminal records. */
function seedDbsSearches({ insert, at }: Seeding): void {
  insert('dbs_search', {
    id: 1,
    account: demo,
    owner: 'owner',
    date_searched: at(-60, '11:05:30'),
    date_updated: at(-20, '16:45:12.5'),
    status: 'Completed',
    disclosure_status: 'Clear',
    ...stepsDone(5),
    disclosure_level: 'Enhanced',
    applicant: JSON.stringify(applicants.sian),
  });
  insert('linked_to', {
    dbs_search: 1,
    position: 0,
    client_id: 5,
    id: 5,
    type: 'Client',
    subtype: 'ValidateMe',
    status: 'Verified',
    description: 'The client that the check was made for',
    is_archived: 0,
    name: "Pádraig O'Invented",
    date: at(-30),
  });
  insert('dbs_search', {
    id: 2,
    account: demo,
    owner: 'bob',
    date_searched: at(-14, '09:00'),
    status: 'AwaitingApplicant',
    ...stepsDone(1),
    disclosure_level: 'Basic',
    applicant: JSON.stringify(applicants.hanako),
  });
  insert('dbs_search', {
    id: 3,
    account: demo,
    owner: 'owner',
    date_searched: at(-2, '15:20'),
    date_updated: at(-1, '08:00'),
    status: 'InProgress',
    disclosure_status: 'Pending',
    ...stepsDone(3),
    disclosure_level: 'Standard',
    applicant: JSON.stringify(applicants.sean),
  });
  insert('dbs_search', {
    id: 902,
    account: other,
    owner: 'boss',
    date_searched: at(-5, '12:00'),
    status: 'InProgress',
    ...stepsDone(1),
    disclosure_level: 'Basic',
    applicant: JSON.stringify({ name: 'Anders Fremd' }),
  });
}

// Seven of the twelve searches are due within thirty days, including two overdue ones.
function seedPepSearches({ insert, at }: Seeding): void {
  const searches = [
    ['owner', 'Ansel Nonesuch', -45],
    ['bob', 'Brünhilde Nirgendwo', -3],
    ['owner', 'Çelik Hayalî', 1],
    ['jane', "D'Arcy Fabrication", 5],
    ['owner', '虚构 人', 12],
    ['bob', 'Esmé Placeholder', 21],
    ['owner', 'Faux Personne', 29],
    ['jane', 'Günther Beispiel', 31],
    ['owner', "Hana O'Made-Up", 60],
    ['owner', 'Íñigo Ejemplo', 90],
    ['bob', 'Jörgen Påhittad', 200],
    ['owner', 'Kseniya Vymyshlena', 364],
  ] as const;
  for (const [position, [owner, name, dueIn]] of searches.entries()) {
    insert('pep_search', { id: position + 1, account: demo, owner, name, date_due: at(dueIn) });
  }
  insert('pep_search', {
    id: 903,
    account: other,
    owner: 'boss',
    name: 'Lena Woanders',
    date_due: at(-1),
  });
}

function seedClients({ insert, at }: Seeding): void {
  const clients = [
    ['Márta Kitalált', 'PendingCompletion', 'ValidateMe', -12],
    ["Niamh O'Fiction", 'PendingVerification', 'ValidateMe', -3],
    ['Oluwaseun Example', 'PendingCompletion', 'PassportChipVerification', -40],
    ['某某 例', 'PendingOcr', 'ValidateMe', -20],
    ["Pádraig O'Invented", 'Verified', 'ValidateMe', -30],
    ['Quentin Blanc', 'Undefined', 'Undefined', 0],
  ] as const;
  for (const [position, [name, state, preset, created]] of clients.entries()) {
    insert('client', {
      id: position + 1,
      account: demo,
      name,
      state,
      preset,
      date_created: at(created),
    });
  }
  insert('client', {
    id: 905,
    account: other,
    name: 'Rosa Anderswo',
    state: 'PendingCompletion',
    preset: 'ValidateMe',
    date_created: at(-25),
  });
}

const sanctionsReport = { name: 'Sanctions report', type: 'sanctions' } as const;

function seedDocuments({ insert, at }: Seeding): void {
  const document = {
    account: demo,
    owner: 'owner',
    is_ready: 1,
    date_created: at(-10, '13:30:15.12'),
    date_expires: at(365),
  };
  insert('document', {
    ...document,
    id: 1,
    owner: 'bob',
    name: 'ValidID report',
    searched_name: 'Seán d’Exemple',
    file_name: 'validid-1.pdf',
    type: 'validid',
    valid_id_search_id: 4,
  });
  insert('document', {
    ...document,
    id: 2,
    is_ready: 0,
    name: 'PEP report',
    searched_name: '虚构 人',
    file_name: 'pep-2.pdf',
    type: 'pep',
    pep_search_id: 5,
    date_created: at(0, '00:00'),
  });
  insert('document', {
    ...document,
    id: 3,
    name: 'Company report',
    searched_name: 'Nowhere & Sons Ltd',
    file_name: 'companylookup-3.pdf',
    type: 'companylookup',
    company_lookup_search_id: 77,
    date_created: at(-100, '10:00'),
    date_expires: at(-10),
  });
  // the smallest positive integer that a double cannot hold
  insert('document', {
    ...document,
    ...sanctionsReport,
    id: 9_007_199_254_740_993n,
    searched_name: 'Zoë Ångström-Müller',
    file_name: 'sanctions-9007199254740993.pdf',
    sanctions_search_id: 1,
  });
  insert('document', {
    ...document,
    ...sanctionsReport,
    id: 906,
    account: other,
    owner: 'boss',
    searched_name: '山田 架空',
    file_name: 'sanctions-906.pdf',
    sanctions_search_id: 901,
  });
}
