import { date, type OutputObject } from '../json.ts';
import { demo, other } from './accounts.ts';
import type { Seeding } from './seed.ts';

/** Flags of a search without a decision on its results. */
const undecided = { client_in_results: 0, client_not_in_results: 0, affected_by_update: 0 };

/** Creates five sanctions searches: id 1 has results in every list, id 2 has none, 3 is bob's, 4 jane's, 5 archived. */
export function seedSanctions(seeding: Seeding): void {
  const { insert, at } = seeding;
  const search = {
    account: demo,
    owner: 'owner',
    search_type: 'Individual',
    ...undecided,
    sources: JSON.stringify(sources),
  };
  insert('sanctions_search', {
    ...search,
    id: 1,
    date_searched: at(-7, '10:14:15.12'),
    date_updated: at(-1, '06:30'),
    client_in_results: 1,
    affected_by_update: 1,
    criteria: criteria('Zoë Ångström-Müller', '1964-02-29', 'SAN-1'),
  });
  insert('sanctions_search', {
    ...search,
    id: 2,
    date_searched: at(-6, '11:00'),
    client_not_in_results: 1,
    criteria: criteria("Tadhg O'Nemo", null, null),
    sources: '[]',
  });
  insert('sanctions_search', {
    ...search,
    id: 3,
    owner: 'bob',
    date_searched: at(-5, '12:15'),
    criteria: criteria('虚构 人', '1975', 'SAN-3'),
  });
  insert('sanctions_search', {
    ...search,
    id: 4,
    owner: 'jane',
    search_type: 'Entity',
    date_searched: at(-4, '13:45:59.999'),
    criteria: criteria('Nowhere & <Sons> "Ltd"', null, 'SAN-4'),
  });
  insert('sanctions_search', {
    ...search,
    id: 5,
    date_searched: at(-300, '09:09:09'),
    date_updated: at(-250),
    date_archived: at(-200, '17:00'),
    criteria: criteria('Günther Beispiel', '1951-12-31', 'SAN-5'),
  });
  insert('sanctions_search', {
    ...search,
    id: 901,
    account: other,
    owner: 'boss',
    date_searched: at(-3),
    criteria: criteria('山田 架空', null, null),
  });
  seedResults(seeding);
  seedLinks(seeding);
}

const criteria = (name: string, dateOfBirth: string | null, reference: string | null): string =>
  JSON.stringify({
    name,
    address: '1 Invented Street, Nowhere',
    country: 'Ruritania',
    dateOfBirth,
    nationality: 'Ruritanian',
    reference,
  });

const sources = [
  { listId: 'EU', listName: 'European Union consolidated list', listShortName: 'EU' },
  { listId: 'HMT', listName: 'HM Treasury consolidated list', listShortName: 'HMT' },
  { listId: 'OFAC', listName: 'OFAC specially designated nationals', listShortName: 'SDN' },
  { listId: 'SECO', listName: 'SECO Sanktionsliste', listShortName: 'SECO' },
].map((source) => ({ ...source, isAffectedByListUpdate: source.listId === 'EU' }));

function seedResults({ insert, at }: Seeding): void {
  const results = (search: number, list: string, whole: OutputObject, sparse: OutputObject): void => {
    insert('sanctions_result', {
      search,
      list,
      position: 0,
      strength: 92,
      similarity: 0.925,
      resolved: 0,
      type: 'Individual',
      date_updated: at(-30, '04:05:06'),
      details: JSON.stringify(whole),
    });
    insert('sanctions_result', {
      search,
      list,
      position: 1,
      strength: 40,
      similarity: 0.4,
      resolved: 1,
      details: JSON.stringify(sparse),
    });
  };
  results(1, 'euResults', eu, {
    addresses: [],
    births: [],
    citizenships: [],
    names: [{ fullName: 'Zoe Angstrom', gender: null }],
    passports: [],
  });
  const hmt = hmTreasury(date(at(-900)));
  results(1, 'hmtResults', hmt, { ...blank(hmt), name6: 'ANGSTROM', name1: 'Zoe' });
  results(1, 'hmtUkraineResults', hmt, { ...blank(hmt), name6: 'MULLER' });
  results(1, 'ofacResults', ofac, ofacBlank);
  results(1, 'ofacConsolidatedResults', ofac, ofacBlank);
  results(1, 'dfatResults', person, { ...blank(person), fullName: 'Z. Angstrom' });
  results(1, 'osfiResults', person, { ...blank(person), fullName: 'Z. Muller' });
  results(1, 'canadianJusticeResults', justice, { ...blank(justice), name: 'Angstrom' });
  results(1, 'canadianSemaResults', sema, { ...blank(sema), name: 'Muller' });
  results(1, 'swissSecoResults', entry(1), { ...entryBlank, searchResultId: 2 });
  results(1, 'listSearchResults', entry(3), { ...entryBlank, searchResultId: 4 });
  results(3, 'dfatResults', { ...person, fullName: '虚构 人' }, blank(person));
}

/** Returns the same members with null values. */
const blank = (whole: OutputObject): OutputObject =>
  Object.fromEntries(Object.keys(whole).map((name) => [name, null]));

const eu: OutputObject = {
  addresses: [
    {
      street: '1 Invented Street',
      city: 'Strelsau',
      country: 'Ruritania',
      postCode: 'RU-0001',
      other: 'c/o Nobody & Co',
    },
    { street: null, city: 'Nowhere', country: null, postCode: null, other: null },
  ],
  births: [{ date: '1964-02-29', place: 'Strelsau', country: 'Ruritania' }],
  citizenships: [{ country: 'Ruritania' }, { country: 'Graustark' }],
  names: [
    { fullName: 'Zoë Ångström-Müller', gender: 'F' },
    { fullName: 'Зоя Выдуманная', gender: 'F' },
  ],
  passports: [{ number: 'P0000001', country: 'Ruritania' }],
};

const hmTreasury = (dateListed: string): OutputObject => ({
  dateListed,
  name1: 'Zoë',
  name2: 'Inventa',
  name3: 'Maria',
  name4: 'von',
  name5: 'und',
  name6: 'ÅNGSTRÖM-MÜLLER',
  dateOfBirth: '29/02/1964',
  countryOfBirth: 'Ruritania',
  nationality: 'Ruritanian',
  address1: 'Flat 0',
  address2: '1 Invented Street',
  address3: 'Old Town',
  address4: 'Strelsau',
  address5: 'Strelsau District',
  address6: 'Northern Province',
  postCode: 'RU-0001',
  country: 'Ruritania',
});

const ofac: OutputObject = {
  firstName: 'Zoë',
  lastName: 'ÅNGSTRÖM-MÜLLER',
  addresses: [
    {
      address1: 'Flat 0',
      address2: '1 Invented Street',
      address3: 'Old Town',
      city: 'Strelsau',
      state: 'Northern Province',
      postCode: 'RU-0001',
      country: 'Ruritania',
    },
  ],
  akas: [{ firstName: 'Zo', lastName: "O'NEMO", type: 'a.k.a.', strength: 'weak' }],
  dateOfBirths: [{ dateOfBirth: '29 Feb 1964' }],
  nationalities: [{ country: 'Ruritania' }],
  placeOfBirths: [{ placeOfBirth: 'Strelsau, Ruritania' }],
};

const ofacBlank: OutputObject = {
  firstName: null,
  lastName: 'ANGSTROM',
  addresses: [],
  akas: [],
  dateOfBirths: [],
  nationalities: [],
  placeOfBirths: [],
};

const person: OutputObject = {
  fullName: 'Zoë Ångström-Müller',
  address: '1 Invented Street, Strelsau',
  dateOfBirth: '1964-02-29',
  placeOfBirth: 'Strelsau',
  nationality: 'Ruritanian',
};

const justice: OutputObject = {
  name: 'Ångström-Müller, Zoë',
  dateOfBirth: '1964-02-29',
  country: 'Ruritania',
  refId: 41,
};

const sema: OutputObject = {
  name: 'Ångström-Müller, Zoë',
  dateOfBirth: '1964-02-29',
  country: 'Ruritania',
  schedule: '1, Part 2',
  item: '17',
};

const entry = (id: number): OutputObject => ({
  searchResultId: id,
  sanctionsListId: 'SECO',
  sanctionsListName: 'SECO Sanktionsliste',
  addresses: [
    {
      searchResultAddressId: id * 10,
      type: 'Residence',
      address1: 'Flat 0',
      address2: '1 Invented Street',
      address3: 'Old Town',
      city: 'Strelsau',
      county: 'Strelsau District',
      postCode: 'RU-0001',
      country: 'Ruritania',
    },
  ],
  datesOfBirth: [
    {
      searchResultDateOfBirthId: id * 10 + 1,
      dateOfBirth: '1964-02-29',
      year: 1964,
      month: 2,
      day: 29,
      type: 'Exact',
    },
    {
      searchResultDateOfBirthId: id * 10 + 2,
      dateOfBirth: '1963',
      year: 1963,
      month: null,
      day: null,
      type: 'Circa',
    },
  ],
  names: [
    {
      searchResultNameId: id * 10 + 3,
      type: 'Primary',
      title: 'Dr',
      fullName: 'Zoë Ångström-Müller',
      resultSimilarity: 0.925,
    },
  ],
  nationalities: [{ searchResultNationalityId: id * 10 + 4, nationality: 'Ruritanian' }],
  placesOfBirth: [
    {
      searchResultPlaceOfBirthId: id * 10 + 5,
      placeOfBirth: 'Strelsau',
      countryOfBirth: 'Ruritania',
    },
  ],
  remarks: [
    {
      searchResultRemarkId: id * 10 + 6,
      name: 'Justification',
      description: 'Invented, "quoted" & <bracketed>',
    },
  ],
});

const entryBlank: OutputObject = {
  sanctionsListId: 'SECO',
  sanctionsListName: null,
  addresses: [],
  datesOfBirth: [],
  names: [],
  nationalities: [],
  placesOfBirth: [],
  remarks: [],
};

// Records are only linked to records that their owner may see, so a link never reveals more than its record.
function seedLinks({ insert, at }: Seeding): void {
  insert('linked_to', {
    sanctions_search: 1,
    position: 0,
    client_id: 1,
    id: 1,
    type: 'Client',
    subtype: 'ValidateMe',
    status: 'PendingCompletion',
    description: 'The client that was searched for',
    is_archived: 0,
    name: 'Márta Kitalált',
    date: at(-12),
  });
  // LinkedTo.id is a 64-bit integer.
  insert('linked_to', {
    sanctions_search: 1,
    position: 1,
    id: 9_007_199_254_740_993n,
    type: 'Document',
    is_archived: 1,
    name: 'Sanctions report',
    date: at(-10, '13:30:15.12'),
  });
  insert('linked_to', {
    sanctions_search: 3,
    position: 0,
    id: 2,
    type: 'Dbs',
    subtype: 'Basic',
    status: 'AwaitingApplicant',
    is_archived: 0,
    name: '架空 花子',
    date: at(-14, '09:00'),
  });
}
