import { findUser, requireRight, requireUser } from '../access.ts';
import { type FieldError, invalid, quote } from '../failure.ts';
import { optional, optionalText, readInput, required, string, strings } from '../input.ts';
import { date } from '../json.ts';
import type { Operation } from './operation.ts';

/** UpdateSubUser: replaces the list of users that a sub user may see the searches of. */
export const updateSubUser: Operation = ({ store, caller }, input) => {
  requireRight(caller, 'isAdmin');
  const { subUserName, permissions } = readInput(input.request, 'request', {
    subUserName: required(string),
    permissions: optional(strings),
  });
  const { account } = caller;
  return store.transaction(() => {
    requireUser(store, account, subUserName, 'request.subUserName');
    if (permissions !== undefined) {
      const unknown = permissions.flatMap((userName, position): FieldError[] => {
        if (findUser(store, account, 'user_name', userName) !== undefined) return [];
        const fieldName = `request.permissions[${position}]`;
        const message = `${fieldName}: expected the name of a user, got ${quote(userName)}`;
        return [{ errorCode: 'InvalidEnum', fieldName, message }];
      });
      const [first, ...rest] = unknown;
      if (first !== undefined) throw invalid([first, ...rest]);
      const user = { account, userName: subUserName };
      store.run('DELETE FROM permission WHERE account = :account AND user_name = :userName', user);
      for (const [position, visible] of [...new Set(permissions)].entries()) {
        store.run(
          'INSERT INTO permission (account, user_name, position, visible) VALUES (:account, :userName, :position, :visible)',
          { ...user, position, visible },
        );
      }
    }
    return { subUser: { ...requireUser(store, account, subUserName, 'request.subUserName') } };
  });
};

interface AgreementRow {
  readonly agree_to_contact_date: number | null;
  readonly agree_to_terms_date: number | null;
  readonly agree_to_data_protection_date: number | null;
}

/** GetEulaStatus: returns the agreements of the main user or of the named sub user. */
export const getEulaStatus: Operation = ({ store, caller }, input) => {
  const { subUserName } = readInput(input.request, 'request', { subUserName: optionalText(string) });
  const { account } = caller;
  if (subUserName !== undefined) {
    requireUser(store, account, subUserName, 'request.subUserName');
    if (subUserName !== caller.user?.userName) requireRight(caller, 'isAdmin');
  }
  const row = store.get<AgreementRow>(
    `SELECT agree_to_contact_date, agree_to_terms_date, agree_to_data_protection_date FROM user
     WHERE account = :account AND CASE WHEN :subUserName IS NULL THEN is_main_user = 1 ELSE user_name = :subUserName END`,
    { account, subUserName: subUserName ?? null },
  );
  if (row === undefined) throw new Error(`account ${account}: expected a main user, got none`);
  return {
    termsAndConditions: 'Terms and conditions, edition 4: searches are made on lawful grounds alone.',
    privacyPolicy: 'Privacy policy, edition 2: searched names are kept for as long as the account asks.',
    agreeToContact: row.agree_to_contact_date !== null,
    agreeToContactInfo: 'We may write to you about news of the service.',
    agreeToContactDate: date(row.agree_to_contact_date),
    agreeToTerms: row.agree_to_terms_date !== null,
    agreeToTermsInfo: 'You agree to the terms and conditions, edition 4.',
    agreeToTermsDate: date(row.agree_to_terms_date),
    agreeToDataProtection: row.agree_to_data_protection_date !== null,
    agreeToDataProtectionInfo: 'You have the consent of those whose data you enter.',
    agreeToDataProtectionDate: date(row.agree_to_data_protection_date),
  };
};
