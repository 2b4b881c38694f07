import { requireVisible, visibleOwners } from '../access.ts';
import { notFound } from '../failure.ts';
import { long as longInput, optionalText, readInput, required, string } from '../input.ts';
import { date, long } from '../json.ts';
import { writePdf } from '../pdf.ts';
import type { Operation } from './operation.ts';

// 64-bit ids are read from the database as digits.
interface DocumentRow {
  readonly id: string;
  readonly owner: string;
  readonly is_ready: number;
  readonly name: string;
  readonly searched_name: string;
  readonly file_name: string;
  readonly type: string;
  readonly sanctions_search_id: string | null;
  readonly pep_search_id: string | null;
  readonly valid_id_search_id: number | null;
  readonly company_lookup_search_id: number | null;
  readonly date_created: number;
  readonly date_expires: number;
}

/** GetPdf: returns a saved document with its bytes, or without them if it is not ready. */
export const getPdf: Operation = async ({ store, caller, now }, input) => {
  const { id, subUserName } = readInput(input.request, 'request', {
    id: required(longInput),
    subUserName: optionalText(string),
  });
  const owners = visibleOwners(store, caller, subUserName, 'request.subUserName');
  const row = store.get<DocumentRow>(
    `SELECT CAST(id AS TEXT) AS id, owner, is_ready, name, searched_name, file_name, type,
       CAST(sanctions_search_id AS TEXT) AS sanctions_search_id, CAST(pep_search_id AS TEXT) AS pep_search_id,
       valid_id_search_id, company_lookup_search_id, date_created, date_expires
     FROM document WHERE account = :account AND id = :id AND date_expires > :now`,
    { account: caller.account, id, now },
  );
  if (row === undefined) throw notFound('document', id);
  requireVisible(owners, row.owner, 'document', id);
  const bytes =
    row.is_ready === 1
      ? writePdf({
          id: row.id,
          title: row.name,
          searchedName: row.searched_name,
          type: row.type,
          dateCreated: row.date_created,
          dateExpires: row.date_expires,
        })
      : null;
  return {
    document: {
      id: long(row.id),
      isReady: row.is_ready === 1,
      name: row.name,
      searchedName: row.searched_name,
      fileName: row.file_name,
      type: row.type,
      sanctionsSearchId: long(row.sanctions_search_id),
      pepSearchId: long(row.pep_search_id),
      validIdSearchId: row.valid_id_search_id,
      companyLookupSearchId: row.company_lookup_search_id,
      dateCreated: date(row.date_created),
      dateExpires: date(row.date_expires),
      documentBytes: bytes === null ? null : bytes.toString('base64'),
    },
  };
};
