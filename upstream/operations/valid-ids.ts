import { ownersParameter, requireRight, requireUser, requireVisible, visibleOwners } from '../access.ts';
import { type FieldError, invalid, notFound } from '../failure.ts';
import {
  boolean,
  date as dateInput,
  integer,
  oneOf,
  optional,
  optionalText,
  readInput,
  required,
  string,
  textLike,
} from '../input.ts';
import { date, type Output } from '../json.ts';
import type { Operation } from './operation.ts';

/** Removes case and diacritics from a name, for `nameSearch` and sorting by name. */
export function foldName(name: string): string {
  return (
    name
      .normalize('NFD')
      .replace(/[\u0300-\u036f]/g, '')
      .normalize('NFC')
      // Letters with a stroke have no decomposition.
      .replace(/[øłđħ]/gi, (letter) => strokeless[letter.toLowerCase()] ?? letter)
      .toUpperCase()
      .toLowerCase()
  );
}
const strokeless: Readonly<Record<string, string>> = { ø: 'o', ł: 'l', đ: 'd', ħ: 'h' };

const pageSize = 20;

// The id breaks ties, so that pages do not overlap.
const orderings = {
  dateSearchedDesc: 'date_searched DESC, id',
  dateSearchedAsc: 'date_searched, id',
  nameAsc: 'folded_name, id',
  nameDesc: 'folded_name DESC, id',
} as const;

const chosen = `
  FROM valid_id_search
  WHERE account = :account
    AND (:owners IS NULL OR owner IN (SELECT value FROM json_each(:owners)))
    AND (:createdBy IS NULL OR owner = :createdBy)
    AND (:name IS NULL OR instr(folded_name, :name) > 0)
    AND (:reference IS NULL OR reference = :reference)
    AND (:type IS NULL OR type = :type)
    AND (:dateFrom IS NULL OR date_searched >= :dateFrom)
    AND (:dateTo IS NULL OR date_searched <= :dateTo)`;

/** GetValidIds: returns one page of the ValidID searches that match every filter. */
export const getValidIds: Operation = ({ store, caller }, input) => {
  const request = readInput(input.request, 'request', {
    subUserName: optionalText(string),
    page: optional(integer()),
    sortOrder: optionalText(
      oneOf([
        'dateSearchedDesc',
        'dateSearchedAsc',
        'nameAsc',
        'nameDesc',
      ] satisfies (keyof typeof orderings)[]),
    ),
    nameSearch: optionalText(string),
    filterReference: optionalText(string),
    filterType: optionalText(textLike(/^\d{1,9}$/, "a type's number")),
    filterDateFrom: optionalText(dateInput),
    filterDateTo: optionalText(dateInput),
    filterUserName: optionalText(string),
  });
  const owners = visibleOwners(store, caller, request.subUserName, 'request.subUserName');
  if (request.filterUserName !== undefined) {
    requireUser(store, caller.account, request.filterUserName, 'request.filterUserName');
  }
  // Older .NET proxies send an unset page as 0 (R9).
  const page = Math.max(1, request.page ?? 1);
  const filters = {
    account: caller.account,
    owners: ownersParameter(owners),
    createdBy: request.filterUserName ?? null,
    name: request.nameSearch === undefined ? null : foldName(request.nameSearch),
    reference: request.filterReference ?? null,
    type: request.filterType === undefined ? null : Number(request.filterType),
    dateFrom: request.filterDateFrom ?? null,
    dateTo: request.filterDateTo ?? null,
  };
  const total = store.get<{ count: number }>(`SELECT count(*) AS count ${chosen}`, filters)?.count ?? 0;
  const rows = store.all<ValidIdRow>(
    `SELECT * ${chosen} ORDER BY ${orderings[request.sortOrder ?? 'dateSearchedDesc']} LIMIT :limit OFFSET :offset`,
    { ...filters, limit: pageSize, offset: (page - 1) * pageSize },
  );
  return {
    totalSearchRecords: total,
    currentPageNum: page,
    maxPageNum: Math.ceil(total / pageSize),
    searchRecords: rows.map(listItem),
  };
};

interface ValidIdRow {
  readonly id: number;
  readonly type: number;
  readonly score: number | null;
  readonly status: string;
  readonly date_searched: number;
  readonly reference: string | null;
  readonly pep_error: number;
  readonly replacement_search_id: number | null;
  readonly has_completed_request: number;
  readonly has_completed_search: number;
  readonly full_name: string;
  readonly date_of_birth: number | null;
  readonly gender: string | null;
  readonly address: string | null;
}

const listItem = (row: ValidIdRow): Output => ({
  id: row.id,
  type: row.type,
  score: row.score,
  status: row.status,
  dateSearched: date(row.date_searched),
  reference: row.reference,
  pepError: row.pep_error === 1,
  replaced: row.replacement_search_id !== null,
  replacementSearchId: row.replacement_search_id,
  hasCompletedRequest: row.has_completed_request === 1,
  hasCompletedSearch: row.has_completed_search === 1,
  searchCriteria: {
    fullName: row.full_name,
    dateOfBirth: date(row.date_of_birth),
    gender: row.gender,
    address: row.address,
  },
});

interface FlagsRow {
  readonly owner: string;
  readonly client_in_results: number;
  readonly client_not_in_results: number;
}

/** UpdateValidId: records whether the client is among a search's results. A missing flag keeps its value (R9). */
export const updateValidId: Operation = ({ store, caller }, input) => {
  requireRight(caller, 'canResolveSearches');
  const request = readInput(input.request, 'request', {
    id: required(integer()),
    clientInResults: optional(boolean),
    clientNotInResults: optional(boolean),
  });
  const { id } = request;
  const owners = visibleOwners(store, caller, undefined, '');
  return store.transaction(() => {
    const row = store.get<FlagsRow>(
      'SELECT owner, client_in_results, client_not_in_results FROM valid_id_search WHERE account = :account AND id = :id',
      { account: caller.account, id },
    );
    if (row === undefined) throw notFound('ValidID search', id);
    requireVisible(owners, row.owner, 'ValidID search', id);
    const clientInResults = request.clientInResults ?? row.client_in_results === 1;
    const clientNotInResults = request.clientNotInResults ?? row.client_not_in_results === 1;
    if (clientInResults && clientNotInResults) {
      throw invalid([
        bothTrue('request.clientInResults', 'clientNotInResults'),
        bothTrue('request.clientNotInResults', 'clientInResults'),
      ]);
    }
    store.run(
      'UPDATE valid_id_search SET client_in_results = :in, client_not_in_results = :notIn WHERE id = :id',
      { id, in: Number(clientInResults), notIn: Number(clientNotInResults) },
    );
    return { success: true };
  });
};

const bothTrue = (fieldName: string, other: string): FieldError => ({
  errorCode: 'OutOfRange',
  fieldName,
  message: `${fieldName}: expected false where ${other} is true, got true`,
});
