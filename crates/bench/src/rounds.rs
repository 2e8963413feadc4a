//! Interleaved runs of the cases that are compared.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;

use crate::Result;

/// Progress of an experiment, reported before each of its runs.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// Runs done.
    pub done: usize,
    /// Runs in all.
    pub total: usize,
    /// Name of the current run.
    pub what: &'a str,
}

/// Function that is told of each step.
pub type Progress<'a> = &'a dyn Fn(Step<'_>);

/// Values in ascending order, each once.
pub(crate) fn distinct<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    BTreeSet::from_iter(values).into_iter().collect()
}

/// Runs every case once in each round, and returns the results, case by case.
///
/// The cases are run in turns, so that a machine that becomes slower in the course of an hour does so
/// for all. Each round begins with another case, as a case may be helped or hindered by the one before it.
/// Ends with the first error of a run.
pub(crate) fn in_turns<C, T>(
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
            progress(Step { done, total: rounds.get() * cases.len(), what: &name(case) });
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

    #[test]
    fn every_round_begins_with_another_case() {
        let (ran, told) = (RefCell::new(String::new()), RefCell::new(Vec::new()));
        let results = in_turns(
            &['a', 'b', 'c'],
            NonZeroUsize::new(4).expect("not zero"),
            char::to_string,
            &|step| told.borrow_mut().push((step.done, step.total, step.what.to_owned())),
            |&case| {
                ran.borrow_mut().push(case);
                Ok(ran.borrow().len())
            },
        );
        assert_eq!(ran.into_inner(), "abcbcacababc");
        assert_eq!(results.expect("results"), [[1, 6, 8, 10], [2, 4, 9, 11], [3, 5, 7, 12]]);
        assert_eq!(told.borrow()[4], (4, 12, "c".to_owned()));
    }

    #[test]
    fn an_error_ends_it() {
        let mut runs = 0;
        let run = |_: &u8| {
            runs += 1;
            if runs == 2 { Err(Error::Other(String::new())) } else { Ok(()) }
        };
        let result = in_turns(&[1, 2], NonZeroUsize::MIN, u8::to_string, &|_| (), run);
        assert!(result.is_err());
        assert_eq!(runs, 2);
    }
}
