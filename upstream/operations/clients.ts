import { requireRight } from '../access.ts';
import { notFound } from '../failure.ts';
import { boolean, integer, oneOf, optional, readInput, required } from '../input.ts';
import { long, type Output } from '../json.ts';
import { day, type Operation } from './operation.ts';

/** AddClientTemplate: returns a blank form for a new client, with the possible proofs. Writes nothing. */
export const addClientTemplate: Operation = () => ({
  request: {
    name: '',
    email: '',
    mobileInternational: '',
    postCode: '',
    proofOfPreset: 'ValidateMe',
    proofOfDocumentCategories: [
      proofs(1, 'name', ['Passport', 'Driving licence', 'National identity card']),
      proofs(2, 'address', ['Utility bill', 'Bank statement', 'Council tax bill']),
    ],
    linkedTo: [],
    reference: null,
  },
});

const proofs = (id: number, proofOf: string, names: readonly string[]): Output => ({
  id,
  proofOf,
  proofOfDocuments: names.map((name, position) => ({ id: id * 10 + position + 1, name })),
});

/** DeleteClient: removes a client permanently. */
export const deleteClient: Operation = ({ store, caller }, input) => {
  requireRight(caller, 'canDeleteSearches');
  const { id } = readInput(input, '', { id: required(integer()) });
  const removed = store.transaction(() =>
    store.run('DELETE FROM client WHERE account = :account AND id = :id', { account: caller.account, id }),
  );
  if (removed === 0) throw notFound('client', id);
  return {};
};

/** CountIncompleteClients: returns the number of clients that have been waiting for at least `daysIncomplete` days. */
export const countIncompleteClients: Operation = ({ store, caller, now }, input) => {
  const {
    daysIncomplete = 7,
    state,
    isValidateMe = true,
  } = readInput(input, '', {
    daysIncomplete: optional(integer(0)),
    state: optional(oneOf(['PendingCompletion', 'PendingVerification'])),
    isValidateMe: optional(boolean),
  });
  const row = store.get<{ count: string }>(
    `SELECT CAST(count(*) AS TEXT) AS count FROM client
     WHERE account = :account AND date_created <= :createdBy
       AND state IN ('PendingCompletion', 'PendingVerification') AND (:state IS NULL OR state = :state)
       AND (preset = 'ValidateMe') = :isValidateMe`,
    {
      account: caller.account,
      createdBy: now - daysIncomplete * day,
      state: state ?? null,
      isValidateMe: Number(isValidateMe),
    },
  );
  return { numberOfIncompleteClients: long(row?.count ?? '0') };
};
