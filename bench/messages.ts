/**
 * Returns a GetSearch reply of about `megabytes` as JSON, with many results in several lists, in the upstream's order
 * of members.
 */
export function searchReply(megabytes: number): string {
  const hmt = (index: number) => ({
    resultStrength: index % 100,
    resultSimilarity: 0.5 + (index % 50) / 100,
    resultResolved: index % 3 === 0,
    resultType: 'Individual',
    dateUpdated: `/Date(${1_700_000_000_000 + index * 1000}-0000)/`,
    dateListed: '/Date(1600000000000-0000)/',
    name1: 'INVENTED',
    name2: `Person ${index}`,
    name6: 'O’Sample & Söhne',
    dateOfBirth: '01/01/1970',
    countryOfBirth: 'Nowhere',
    nationality: 'Nowhere',
    address1: '1 Example Street',
    address2: null,
    address6: 'Example Town',
    postCode: 'EX1 1EX',
    country: 'Nowhere',
  });
  const entry = (index: number) => ({
    resultStrength: index % 100,
    resultSimilarity: 0.75,
    resultResolved: false,
    resultType: 'Entity',
    dateUpdated: `/Date(${1_700_000_000_000 + index * 1000}-0000)/`,
    searchResultId: index,
    sanctionsListId: '7',
    sanctionsListName: 'Invented list "seven"',
    addresses: [
      {
        searchResultAddressId: index,
        type: 'Main',
        address1: '2 Example Road',
        city: 'Example',
        county: 'Exampleshire',
        postCode: 'EX2',
        country: 'Nowhere',
      },
    ],
    datesOfBirth: [
      { searchResultDateOfBirthId: index, dateOfBirth: '1970', year: 1970, month: 1, day: 1, type: 'Exact' },
    ],
    names: [
      {
        searchResultNameId: index,
        type: 'AKA',
        title: 'Dr',
        fullName: `Zoë Example ${index}`,
        resultSimilarity: 0.9,
      },
    ],
    nationalities: [{ searchResultNationalityId: index, nationality: 'Nowhere' }],
    placesOfBirth: [],
    remarks: [
      {
        searchResultRemarkId: index,
        name: 'Remark',
        description: 'Plainly invented, for a benchmark; nobody of this name is meant.',
      },
    ],
  });
  const count = Math.round((megabytes * 1024 * 1024) / 1180);
  const indexes = Array.from({ length: count }, (_, index) => index);
  return JSON.stringify({
    data: {
      linkedTo: [],
      searchRecord: {
        id: 1,
        searchType: 'Standard',
        dateSearched: '/Date(1700000000000-0000)/',
        isArchived: false,
        numOfResults: count * 2,
        searchResults: { hmtResults: indexes.map(hmt) },
        listSearchResults: indexes.map(entry),
      },
      responseStatus: {},
    },
  });
}

/** Returns an UpdateSubUser request of about `megabytes` as the XML of `/xml/reply/UpdateSubUser`. */
export function subUserRequest(megabytes: number, namespace: string, arrays: string): string {
  const items: string[] = [];
  for (let size = 0; size < megabytes * 1024 * 1024; size += items.at(-1)?.length ?? 1) {
    items.push(`<a:string>user-${items.length}@screening.example, Söhne &amp; Co</a:string>`);
  }
  return `<UpdateSubUser xmlns="${namespace}" xmlns:a="${arrays}"><Authentication><ApiUserId>demo</ApiUserId><ApiUserKey>demo-key</ApiUserKey></Authentication><Request><Permissions>${items.join('')}</Permissions><SubUserName>jane</SubUserName></Request></UpdateSubUser>`;
}
