/** Protocols over SOAP that are not offered, by the namespaces of their elements: what is said, and what would work. */
const protocols: readonly (readonly [namespace: RegExp, told: string])[] = [
  [
    /^http:\/\/(?:schemas\.xmlsoap\.org\/ws\/2005\/02\/(?:trust|sc)|docs\.oasis-open\.org\/ws-sx\/(?:ws-trust\/200512|ws-secureconversation\/200512))\/?$/,
    'WS-Trust and WS-SecureConversation are not offered here; set establishSecurityContext="false" and negotiateServiceCredential="false"',
  ],
  [
    /^http:\/\/(?:schemas\.xmlsoap\.org\/ws\/2005\/02\/rm|docs\.oasis-open\.org\/ws-rx\/wsrm\/200702)\/?$/,
    'WS-ReliableMessaging is not offered here; call without a reliable session',
  ],
];

/** What is said of an element of a protocol that is not offered, and what would work; undefined for any other namespace. */
export function protocolOf(namespace: string): string | undefined {
  return protocols.find(([pattern]) => pattern.test(namespace))?.[1];
}
