import fc from 'fast-check';

// Uses the same values in each run, so that failures are reproducible. PROPERTY_SEED selects others.
fc.configureGlobal({
  seed: Number(process.env.PROPERTY_SEED ?? 20_261_121),
  // no shrinking if the failure is not read
  endOnFailure: process.env.MUTANTS !== undefined,
});

export { fc };
