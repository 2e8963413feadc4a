//! Cold runs: dropping of caches, and whether it worked.

use serde::{Deserialize, Serialize};

use crate::cache::{CacheDropper, Method, Residue};
use crate::units::counted;

/// Dropping of caches before cold runs, and whether it worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cold {
    /// Way in which caches were dropped before each run.
    pub method: Method,
    /// Pages still in memory before the run that found most there; none if the kernel does not say.
    pub residue: Option<Residue>,
}

/// Drops caches, and adds to the findings of earlier runs: `None` before the first.
pub(crate) fn drop_caches(dropper: &CacheDropper, before: Option<Cold>) -> Cold {
    let method = dropper.drop_caches();
    let now = Cold { method, residue: dropper.verify() };
    before.map_or(now, |before| before.and(now))
}

impl Cold {
    /// Whether no run was known to find most of its files in memory.
    pub fn is_cold(self) -> bool {
        self.residue.is_none_or(|residue| residue.is_cold())
    }

    /// Findings with those of one more run.
    fn and(self, other: Self) -> Self {
        let share = |residue: &Residue| residue.in_memory as f64 / residue.pages.max(1) as f64;
        let residues = [self.residue, other.residue].into_iter().flatten();
        Self { residue: residues.max_by(|a, b| share(a).total_cmp(&share(b))), ..self }
    }

    /// Findings in a sentence.
    pub(crate) fn note(self) -> String {
        let Self { method, residue } = self;
        let found = match residue {
            None => "; the kernel does not say whether that worked".to_owned(),
            Some(Residue { pages, in_memory }) => format!(
                "; of {} that were then looked at, {in_memory} were in memory at most{}",
                counted(pages, "page"),
                if self.is_cold() { "" } else { ", so the runs were warm. Files on tmpfs always are" }
            ),
        };
        format!("Before each cold run caches were dropped {method}{found}.")
    }
}

/// Temperature of runs: cold only if they were.
pub(crate) fn temperature(cold: Option<Cold>) -> &'static str {
    match cold {
        None => "warm",
        Some(cold) if !cold.is_cold() => "warm, as caches could not be dropped",
        Some(Cold { residue: None, .. }) => "cold if dropping caches worked",
        Some(_) => "cold",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cold(in_memory: Option<u64>) -> Cold {
        let residue = in_memory.map(|in_memory| Residue { pages: 64, in_memory });
        Cold { method: Method::Kernel, residue }
    }

    #[test]
    fn warm_runs_are_not_called_cold() {
        assert_eq!(temperature(None), "warm");
        assert_eq!(temperature(Some(cold(Some(3)))), "cold");
        assert_eq!(temperature(Some(cold(None))), "cold if dropping caches worked");
        assert_eq!(temperature(Some(cold(Some(60)))), "warm, as caches could not be dropped");
    }

    #[test]
    fn the_warmest_run_counts() {
        assert_eq!(cold(Some(1)).and(cold(Some(60))).and(cold(Some(2))), cold(Some(60)));
        assert_eq!(cold(None).and(cold(Some(1))), cold(Some(1)));
    }

    #[test]
    fn it_is_said_how_caches_were_dropped() {
        let before = "Before each cold run caches were dropped by the kernel (drop_caches)";
        assert_eq!(
            cold(Some(0)).note(),
            format!("{before}; of 64 pages that were then looked at, 0 were in memory at most.")
        );
        assert_eq!(cold(None).note(), format!("{before}; the kernel does not say whether that worked."));
        assert!(cold(Some(64)).note().ends_with("so the runs were warm. Files on tmpfs always are."));
    }
}
