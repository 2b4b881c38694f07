import { ownersParameter, requireRight, visibleOwners } from '../access.ts';
import { Failure } from '../failure.ts';
import { date, optionalText, readInput } from '../input.ts';
import { type JsonObject, money, type OutputObject } from '../json.ts';
import type { Context, Operation } from './operation.ts';

const pencePerRenewal = 110;

/** CostRenewAllPepSearches: returns the cost of a renewal. Charges nothing. */
export const costRenewAllPepSearches: Operation = (context, input) => {
  const renewalDate = readRenewalDate(context, input);
  const count = dueSearches(context, renewalDate).length;
  return {
    ...renewalOutput(count, renewalDate),
    canAfford: balancePence(context) >= count * pencePerRenewal,
  };
};

/** RenewAllPepSearches: charges the balance and moves every due date by one year, in one transaction. */
export const renewAllPepSearches: Operation = (context, input) => {
  const { store, caller } = context;
  requireRight(caller, 'isAdmin');
  const renewalDate = readRenewalDate(context, input);
  return store.transaction(() => {
    const searches = dueSearches(context, renewalDate);
    const cost = searches.length * pencePerRenewal;
    const balance = balancePence(context);
    if (balance < cost) {
      const message = `balance: expected at least ${money(cost).rawJSON}, got ${money(balance).rawJSON}`;
      throw new Failure(402, 'InsufficientFunds', message);
    }
    store.run('UPDATE account SET balance_pence = balance_pence - :cost WHERE id = :account', {
      account: caller.account,
      cost,
    });
    for (const { id, date_due } of searches) {
      store.run('UPDATE pep_search SET date_due = :due WHERE id = :id', { id, due: oneYearOn(date_due) });
    }
    return renewalOutput(searches.length, renewalDate);
  });
};

// A .NET proxy sends an unset date as the first day of year 1 (R9).
const yearTwo = Date.parse('0002-01-01T00:00:00Z');

function readRenewalDate({ now }: Context, input: JsonObject): number {
  const { renewalDate } = readInput(input.request, 'request', { renewalDate: optionalText(date) });
  return renewalDate === undefined || renewalDate < yearTwo ? now : renewalDate;
}

interface DueSearch {
  readonly id: number;
  readonly date_due: number;
}

function dueSearches({ store, caller }: Context, renewalDate: number): readonly DueSearch[] {
  return store.all<DueSearch>(
    `SELECT id, date_due FROM pep_search
     WHERE account = :account AND date_due <= :renewalDate
       AND (:owners IS NULL OR owner IN (SELECT value FROM json_each(:owners)))`,
    {
      account: caller.account,
      renewalDate,
      owners: ownersParameter(visibleOwners(store, caller, undefined, '')),
    },
  );
}

function balancePence({ store, caller }: Context): number {
  const row = store.get<{ balance_pence: number }>('SELECT balance_pence FROM account WHERE id = :account', {
    account: caller.account,
  });
  return row?.balance_pence ?? 0;
}

const renewalOutput = (count: number, renewalDate: number): OutputObject => ({
  count,
  totalCost: money(count * pencePerRenewal),
  renewalDate: new Date(renewalDate).toISOString().slice(0, 10),
});

// 29 February becomes 28 February, not 1 March.
function oneYearOn(milliseconds: number): number {
  const due = new Date(milliseconds);
  const month = due.getUTCMonth();
  due.setUTCFullYear(due.getUTCFullYear() + 1);
  if (due.getUTCMonth() !== month) due.setUTCDate(0);
  return due.getTime();
}
