/** Remedies by title of the problem, and by status. Status 0: no response. */
const remedies: Readonly<Record<string, string>> = {
  StaleVersion:
    'Somebody else changed the routes. Load the page again, check the route, and repeat the change.',
  NotReady: 'Wait until the missing conditions are met, or select “Switch although it is not ready”.',
  NoStore: 'Set `store` in soapbridge.yaml, and restart the gateway.',
  0: 'The gateway did not answer. Check that it runs and that you can reach it, then repeat the action.',
  400: 'Correct the marked fields, and send the form again.',
  401: 'Sign in with a token of the token file. `soapbridge admin-token` creates one.',
  403: 'Sign out, and sign in with a token of role change. Open the console under the address in admin.origin.',
  404: 'Check the address, or load the page again: the object may have been removed.',
  413: 'Shorten the text, and send the form again.',
  421: 'Open the console under the address in admin.listen or admin.origin.',
  422: 'Correct the fields, and send the form again.',
  429: 'Wait a minute, then repeat the action.',
  503: 'Check the store in the list of contracts and the log of the gateway, then repeat the action.',
};

/** Returns what a user can do about a problem of the admin API. */
export function remedyFor({
  title = '',
  status,
}: {
  readonly title?: string | undefined;
  readonly status: number;
}): string {
  return remedies[title] ?? remedies[status] ?? 'Read the log of the gateway, then repeat the action.';
}
