//! The machine of a measurement, and its date.

use std::fmt::{self, Display, Formatter};
use std::num::NonZeroUsize;

use finecomb_sys::machine::processor;
use finecomb_sys::threads::cores;
use jiff::{Timestamp, Unit};
use rustix::system::uname;
use serde::{Deserialize, Serialize};

/// Machine and date of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Cores available to the process; at least 1.
    pub(crate) cores: NonZeroUsize,
    /// Name of the processor; empty if unknown.
    pub(crate) processor: String,
    /// Name and release of the kernel.
    pub(crate) kernel: String,
    /// Time in UTC, in the format of RFC 3339.
    pub(crate) date: String,
}

impl Machine {
    /// This machine, now.
    pub(crate) fn here() -> Self {
        let name = uname();
        let now = Timestamp::now();
        Self {
            cores: cores(),
            processor: processor().unwrap_or_default(),
            kernel: format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy()),
            date: now.round(Unit::Second).unwrap_or(now).to_string(),
        }
    }
}

impl Display for Machine {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let cores = if self.cores.get() == 1 { "core" } else { "cores" };
        write!(formatter, "{} {cores}", self.cores)?;
        for part in [&self.processor, &self.kernel, &self.date].into_iter().filter(|part| !part.is_empty()) {
            write!(formatter, ", {part}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
impl Machine {
    /// A machine for tests.
    pub(crate) fn example(cores: usize) -> Self {
        Self {
            cores: NonZeroUsize::new(cores).expect("not zero"),
            processor: "Some CPU".to_owned(),
            kernel: "Linux 6.1".to_owned(),
            date: "2025-01-31T12:00:00Z".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_described_on_one_line() {
        let here = Machine::here();
        assert!(here.kernel.contains(' ') && here.date.ends_with('Z'), "{here:?}");
        assert_eq!(Machine::example(2).to_string(), "2 cores, Some CPU, Linux 6.1, 2025-01-31T12:00:00Z");
        let unnamed = Machine { processor: String::new(), ..Machine::example(1) };
        assert_eq!(unnamed.to_string(), "1 core, Linux 6.1, 2025-01-31T12:00:00Z");
    }
}
