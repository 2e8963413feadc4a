//! Interleaved runs of the compared cases.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use crate::Result;

/// Progress of an experiment, reported before each of its runs.
#[derive(Clone, Copy, Debug)]
pub struct RunStep<'a> {
    /// Runs done.
    pub done: usize,
    /// Total number of runs.
    pub total: usize,
    /// Name of the current run.
    pub name: &'a str,
}

/// Callback for each step.
pub type Progress<'a> = &'a dyn Fn(RunStep<'_>);

/// Distinct values in ascending order.
pub(crate) fn distinct<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    BTreeSet::from_iter(values).into_iter().collect()
}

/// Runs every case once per round and returns the results by case.
///
/// The cases are interleaved, so that drift of the machine affects all of them alike. Each round begins with another case, as
/// a case may be affected by the one before it. Stops at the first error.
pub(crate) fn interleaved<C, T>(
    cases: &[C],
    rounds: NonZeroUsize,
    name: impl Fn(&C) -> String,
    progress: Progress<'_>,
    mut run: impl FnMut(&C) -> Result<T>,
) -> Result<Vec<Vec<T>>> {
    let mut results: Vec<Vec<T>> = cases.iter().map(|_| Vec::with_capacity(rounds.get())).collect();
    for round in 0..rounds.get() {
        for place in 0..cases.len() {
            let number = (round + place) % cases.len();
            let case = &cases[number];
            let done = round * cases.len() + place;
            progress(RunStep { done, total: rounds.get() * cases.len(), name: &name(case) });
            results[number].push(run(case)?);
        }
    }
    Ok(results)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::Error;
    use crate::experiment::tests::nonzero;

    #[test]
    fn every_round_begins_with_another_case() {
        let (ran, steps) = (RefCell::new(String::new()), RefCell::new(Vec::new()));
        let results = interleaved(
            &['a', 'b', 'c'],
            nonzero(4),
            char::to_string,
            &|step| steps.borrow_mut().push((step.done, step.total, step.name.to_owned())),
            |&case| {
                ran.borrow_mut().push(case);
                Ok(ran.borrow().len())
            },
        );
        assert_eq!(ran.into_inner(), "abcbcacababc");
        assert_eq!(results.expect("results"), [[1, 6, 8, 10], [2, 4, 9, 11], [3, 5, 7, 12]]);
        assert_eq!(steps.borrow()[4], (4, 12, "c".to_owned()));
    }

    #[test]
    fn the_first_error_stops_the_runs() {
        let mut runs = 0;
        let run = |_: &u8| {
            runs += 1;
            if runs == 2 { Err(Error::Other(String::new())) } else { Ok(()) }
        };
        let result = interleaved(&[1, 2], NonZeroUsize::MIN, u8::to_string, &|_| (), run);
        assert!(result.is_err());
        assert_eq!(runs, 2);
    }
}
