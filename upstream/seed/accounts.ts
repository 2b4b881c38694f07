import { sealKey } from '../access.ts';
import type { Seeding } from './seed.ts';

/** The account used in the documentation, `demo` / `demo-key`. */
export const demo = 1;
/** A second account, `other` / `other-key`, which shows that accounts are isolated from each other. */
export const other = 2;

/** Creates the two accounts and their users (R2). */
export function seedAccounts({ insert, at }: Seeding): void {
  const account = (id: number, apiUserId: string, apiUserKey: string, pence: number): void => {
    insert('account', { id, api_user_id: apiUserId, balance_pence: pence, ...sealKey(apiUserKey) });
  };
  const nothing = {
    is_main_user: 0,
    is_admin: 0,
    can_resolve_searches: 0,
    can_delete_searches: 0,
  };
  const everything = {
    is_main_user: 1,
    is_admin: 1,
    can_resolve_searches: 1,
    can_delete_searches: 1,
    agree_to_terms_date: at(-400, '10:00'),
    agree_to_data_protection_date: at(-400, '10:00'),
  };
  account(demo, 'demo', 'demo-key', 250_00);
  insert('user', {
    ...everything,
    account: demo,
    user_name: 'owner',
    user_id: '00000000000040008000000000000001',
    name: 'Zoë Musterfrau',
    email: 'owner@screening.example',
  });
  insert('user', {
    ...nothing,
    account: demo,
    user_name: 'jane',
    user_id: '6f9619ff8b86d011b42d00cf4fc964ff',
    name: "Jane O'Sample",
    email: 'jane@screening.example',
    can_resolve_searches: 1,
    can_delete_searches: 1,
    agree_to_contact_date: at(-90, '09:41:07.25'),
    agree_to_terms_date: at(-120, '08:30'),
    agree_to_data_protection_date: at(-120, '08:31'),
  });
  insert('user', {
    ...nothing,
    account: demo,
    user_name: 'bob',
    user_id: '3f2504e04f8941d39a0c0305e82c3301',
    name: 'Bób Przykład',
  });
  insert('permission', { account: demo, user_name: 'jane', position: 0, visible: 'bob' });

  // The balance is less than the cost of one renewal.
  account(other, 'other', 'other-key', 1_00);
  insert('user', {
    ...everything,
    account: other,
    user_name: 'boss',
    user_id: '00000000000040008000000000000901',
    name: 'Otto Andermann',
    email: 'boss@other.example',
  });
}
