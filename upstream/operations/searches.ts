import { requireVisible, visibleOwners } from '../access.ts';
import type { Store } from '../database.ts';
import { notFound } from '../failure.ts';
import { boolean, integer, optional, optionalText, readInput, required, string } from '../input.ts';
import { date, long, type Output, type OutputObject } from '../json.ts';
import type { Operation } from './operation.ts';

interface SanctionsRow {
  readonly id: number;
  readonly owner: string;
  readonly search_type: string;
  readonly date_searched: number;
  readonly date_updated: number | null;
  readonly date_archived: number | null;
  readonly client_in_results: number;
  readonly client_not_in_results: number;
  readonly affected_by_update: number;
  readonly criteria: string;
  readonly sources: string;
}

/** GetSearch: returns a sanctions search with its results. */
export const getSearch: Operation = ({ store, caller }, input) => {
  const { id, subUserName, onlyShowUnresolvedResults } = readInput(input.request, 'request', {
    id: required(integer()),
    subUserName: optionalText(string),
    onlyShowUnresolvedResults: optional(boolean),
  });
  const owners = visibleOwners(store, caller, subUserName, 'request.subUserName');
  const row = store.get<SanctionsRow>(
    'SELECT * FROM sanctions_search WHERE account = :account AND id = :id',
    {
      account: caller.account,
      id,
    },
  );
  if (row === undefined) throw notFound('sanctions search', id);
  requireVisible(owners, row.owner, 'sanctions search', id);
  const { total, listSearchResults, ...searchResults } = sanctionsResults(
    store,
    id,
    onlyShowUnresolvedResults ?? false,
  );
  return {
    linkedTo: linkedTo(store, 'sanctions_search', id),
    searchRecord: {
      id: row.id,
      searchType: row.search_type,
      dateSearched: date(row.date_searched),
      dateUpdated: date(row.date_updated),
      dateArchived: date(row.date_archived),
      isArchived: row.date_archived !== null,
      numOfResults: total,
      clientInResults: row.client_in_results === 1,
      clientNotInResults: row.client_not_in_results === 1,
      affectedByUpdate: row.affected_by_update === 1,
      searchCriteria: storedJson(row.criteria),
      searchResults,
      searchSources: storedJson(row.sources),
      listSearchResults,
    },
  };
};

interface ResultRow {
  readonly list: string;
  readonly strength: number | null;
  readonly similarity: number | null;
  readonly resolved: number;
  readonly type: string | null;
  readonly date_updated: number | null;
  readonly details: string;
}

/** Returns the lists of a search by member name, including empty lists, and the total including resolved results. */
function sanctionsResults(store: Store, search: number, onlyUnresolved: boolean) {
  const rows = store.all<ResultRow>(
    'SELECT * FROM sanctions_result WHERE search = :search ORDER BY list, position',
    { search },
  );
  const shown = rows.filter(({ resolved }) => !onlyUnresolved || resolved === 0);
  const list = (name: string): Output =>
    shown
      .filter((row) => row.list === name)
      .map((row) => ({
        resultStrength: row.strength,
        resultSimilarity: row.similarity,
        resultResolved: row.resolved === 1,
        resultType: row.type,
        dateUpdated: date(row.date_updated),
        ...storedJson(row.details),
      }));
  return {
    total: rows.length,
    listSearchResults: list('listSearchResults'),
    euResults: list('euResults'),
    hmtResults: list('hmtResults'),
    hmtUkraineResults: list('hmtUkraineResults'),
    ofacResults: list('ofacResults'),
    ofacConsolidatedResults: list('ofacConsolidatedResults'),
    dfatResults: list('dfatResults'),
    osfiResults: list('osfiResults'),
    canadianJusticeResults: list('canadianJusticeResults'),
    canadianSemaResults: list('canadianSemaResults'),
    swissSecoResults: list('swissSecoResults'),
  };
}

interface DbsRow {
  readonly id: number;
  readonly owner: string;
  readonly date_searched: number;
  readonly date_updated: number | null;
  readonly status: string;
  readonly disclosure_status: string | null;
  readonly is_applicant_info_completed: number;
  readonly is_id_check_completed: number;
  readonly is_application_completed: number;
  readonly is_application_submitted: number;
  readonly is_application_disclosed: number;
  readonly disclosure_level: string;
  readonly applicant: string;
}

/** GetDbsSearch: returns the state and applicant of a DBS search. */
export const getDbsSearch: Operation = ({ store, caller }, input) => {
  const { id, subUserName } = readInput(input, '', {
    id: required(integer()),
    subUserName: optionalText(string),
  });
  const owners = visibleOwners(store, caller, subUserName, 'subUserName');
  const row = store.get<DbsRow>('SELECT * FROM dbs_search WHERE account = :account AND id = :id', {
    account: caller.account,
    id,
  });
  if (row === undefined) throw notFound('DBS search', id);
  requireVisible(owners, row.owner, 'DBS search', id);
  return {
    linkedTo: linkedTo(store, 'dbs_search', id),
    summary: {
      id: row.id,
      dateSearched: date(row.date_searched),
      dateUpdated: date(row.date_updated),
      status: row.status,
      disclosureStatus: row.disclosure_status,
      isApplicantInfoCompleted: row.is_applicant_info_completed === 1,
      isIdCheckCompleted: row.is_id_check_completed === 1,
      isApplicationCompleted: row.is_application_completed === 1,
      isApplicationSubmitted: row.is_application_submitted === 1,
      isApplicationDisclosed: row.is_application_disclosed === 1,
      disclosureLevel: row.disclosure_level,
      applicantInformation: storedJson(row.applicant),
    },
  };
};

interface LinkRow {
  readonly client_id: number | null;
  readonly id: string;
  readonly type: string;
  readonly subtype: string | null;
  readonly status: string | null;
  readonly description: string | null;
  readonly is_archived: number;
  readonly name: string | null;
  readonly date: number | null;
}

function linkedTo(store: Store, column: 'sanctions_search' | 'dbs_search', search: number): Output {
  const rows = store.all<LinkRow>(
    `SELECT client_id, CAST(id AS TEXT) AS id, type, subtype, status, description, is_archived, name, date
     FROM linked_to WHERE ${column} = :search ORDER BY position`,
    { search },
  );
  return rows.map((row) => ({
    clientId: row.client_id,
    id: long(row.id),
    type: row.type,
    subtype: row.subtype,
    status: row.status,
    description: row.description,
    isArchived: row.is_archived === 1,
    name: row.name,
    date: date(row.date),
  }));
}

// The seed has written this JSON in the shape of the reply.
const storedJson = (text: string): OutputObject => JSON.parse(text) as OutputObject;
