import { registerHooks } from 'node:module';

/** Preloaded by tests. The packages in HIDDEN_PACKAGES, separated by blanks, cannot be imported. */
const hidden = new Set((process.env.HIDDEN_PACKAGES ?? '').split(' '));

registerHooks({
  resolve: (specifier, context, next) => {
    const [scope = '', name = ''] = specifier.split('/');
    if (hidden.has(scope.startsWith('@') ? `${scope}/${name}` : scope))
      throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
    return next(specifier, context);
  },
});
