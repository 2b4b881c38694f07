import fc from 'fast-check';

// The same values in each run, so that a run that fails fails again; PROPERTY_SEED tries others.
fc.configureGlobal({
  seed: Number(process.env.PROPERTY_SEED ?? 20_261_121),
  // where nobody reads of a failure, a smaller one isn't looked for
  endOnFailure: process.env.MUTANTS !== undefined,
});

export { fc };
