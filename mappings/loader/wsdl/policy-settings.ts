import type { AdoptedService, SecurityNeeds } from '../../contract/adopted.ts';
import type { Wsse } from '../../contract/credentials.ts';

/**
 * Returns the policies of a service. A requirement is met only if the overlay has the settings for it (A31, X37).
 *
 * @param tokenPlaces keys in `headers` for the values of a UsernameToken
 */
export function checkedPolicies(
  policies: AdoptedService['policies'],
  wsse: Wsse | undefined,
  tokenPlaces: readonly string[],
): AdoptedService['policies'] {
  const isEncrypted = policies.some(({ needs }) => needs?.encryption === true);
  return policies.map((one) => {
    const { text, needs = {}, kind, served } = one;
    const isToken = kind === 'usernameToken' && wsse?.username === undefined;
    const missing = isToken
      ? [`headers, ${tokenPlaces.join(' and ')}`]
      : missingSettings(needs, wsse, isEncrypted);
    if (!served || missing.length === 0) return one;
    return { ...one, text: `${text} (soap.yaml: ${missing.join(', ')})`, served: false };
  });
}

/** Returns the settings of `wsse` that a policy needs and the overlay lacks (X37). */
function missingSettings(
  needs: SecurityNeeds,
  wsse: Wsse | undefined,
  isEncrypted: boolean,
): readonly string[] {
  const { x509, sign, decrypt, saml } = wsse ?? {};
  const required: readonly string[] = x509?.require ?? [];
  const wanted: readonly string[] = [
    ...(needs.require ?? []),
    ...(needs.encryption === true ? ['encryption'] : []),
  ];
  const lacking = wanted.filter((item) => !required.includes(item));
  return [
    ...(needs.x509 === true && x509 === undefined ? ['wsse.x509'] : []),
    ...(needs.sign === true && sign === undefined ? ['wsse.sign'] : []),
    ...(lacking.length > 0 ? [`${lacking.join(' and ')} in wsse.x509.require`] : []),
    ...(needs.confirmation === true && sign?.confirmation !== true ? ['wsse.sign.confirmation: true'] : []),
    ...(needs.sha1 !== undefined && x509?.sha1 !== true && x509?.sha1 !== needs.sha1
      ? [`wsse.x509.sha1: ${needs.sha1}`]
      : []),
    ...(needs.cbc === true && isEncrypted && decrypt?.cbc !== true ? ['wsse.decrypt.cbc: true'] : []),
    ...(needs.saml !== undefined && saml === undefined ? ['wsse.saml'] : []),
  ];
}
