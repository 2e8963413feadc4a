//! The machine that a process runs on.

use std::fs;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Name of the processor; `None` if the kernel does not know it.
pub fn processor() -> Option<String> {
    name_of_first(&fs::read_to_string("/proc/cpuinfo").ok()?)
}

/// The name of the first processor in `/proc/cpuinfo`.
fn name_of_first(info: &str) -> Option<String> {
    let name =
        info.lines().find_map(|line| line.strip_prefix("model name")?.trim_start().strip_prefix(':'))?;
    Some(name.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// How long the machine has been suspended since it was started.
pub fn suspended() -> Duration {
    let time = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
    time(ClockId::Boottime).saturating_sub(time(ClockId::Monotonic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_name_is_parsed() {
        let info =
            "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Some(R)  CPU @ 2.50GHz\nmodel name\t: other\n";
        assert_eq!(name_of_first(info).as_deref(), Some("Some(R) CPU @ 2.50GHz"));
        assert_eq!(name_of_first("Processor: ARMv8\n"), None);
    }
}
