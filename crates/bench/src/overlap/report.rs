//! Report on reading and hashing, as text and as a picture.

use finecomb_sys::units::{Bytes, Count};

use super::{CacheTimes, Overlap, WidthTimes};
use crate::cache::{Cold, cache_state};
use crate::chart::{Axis, Chart, Panel, Point, Series, SeriesKind};
use crate::experiment::Experiment;
use crate::sample::IQR_NOTE;
use crate::table::ResultTable;
use crate::units::{TimeUnit, medians_of, ratio};

/// Names of the cases without and with prefetch.
const WITHOUT: &str = "no prefetch";
const WITH: &str = "prefetch";

impl Overlap {
    fn unit(&self) -> TimeUnit {
        let cases = self.parts.iter().flat_map(|part| &part.cases);
        TimeUnit::of(cases.map(|case| case.both.median()))
    }

    fn runs(&self) -> usize {
        self.parts.first().map_or(0, |part| part.working.values().len())
    }

    /// Wall times by number of threads, with warm and cold cache side by side, and the times of reading alone and of hashing
    /// alone as bounds.
    fn chart(&self) -> Chart {
        Chart {
            title: format!("Reading and hashing {} of {}", Bytes(self.bytes), self.path),
            subtitle: format!("{}; {}", medians_of(self.runs()), self.machine),
            panels: self.parts.iter().map(|part| self.panel(part)).collect(),
        }
    }

    fn panel(&self, part: &CacheTimes) -> Panel {
        let (unit, cores) = (self.unit(), self.machine.cores);
        let with = |ahead| part.cases.iter().filter(move |case| case.ahead == ahead);
        let both = |name, ahead| {
            let points = with(ahead).map(|case| Point::of(case.width.get(), &case.both, unit));
            Series::new(name, SeriesKind::Joined, points)
        };
        let alone = |name, seconds: &dyn Fn(&WidthTimes) -> f64| {
            let point = |case: &WidthTimes| Point::new(case.width.get() as f64, unit.scaled(seconds(case)));
            Series::new(name, SeriesKind::Dashed, with(false).map(point))
        };
        Panel {
            title: cache_state(part.cold).to_owned(),
            x_label: "threads",
            y_label: unit.label("wall"),
            x: Axis::Log2,
            series: vec![
                both(WITHOUT, false),
                both(WITH, true),
                alone("reading alone", &|case| part.reading_at(case.width)),
                alone("hashing alone", &|case| part.working_at(case.width, cores)),
            ],
        }
    }
}

impl Experiment for Overlap {
    const NAME: &'static str = "overlap";

    fn heading(&self) -> String {
        format!(
            "Reading {} of {} and hashing {} words{}: {}; {}",
            Bytes(self.bytes),
            self.path,
            Count(self.words.count),
            if self.work.get() == 1 { String::new() } else { format!(" {} times", self.work) },
            medians_of(self.runs()),
            self.machine
        )
    }

    fn table(&self) -> ResultTable {
        let (unit, cores) = (self.unit(), self.machine.cores);
        let bound = |&(part, case): &(&CacheTimes, &WidthTimes)| part.bound_at(case.width, cores);
        let rows = self.parts.iter().flat_map(|part| part.cases.iter().map(move |case| (part, case)));
        let table = ResultTable::of(
            rows,
            [
                ("state", &|(part, _)| cache_state(part.cold).to_owned()),
                ("threads", &|(_, case)| case.width.to_string()),
                ("prefetch", &|(_, case)| if case.ahead { "yes" } else { "no" }.to_owned()),
                (&unit.label("read"), &|(_, case)| unit.number(case.reading.median())),
                (&unit.label("hash"), &|(part, case)| unit.number(part.working_at(case.width, cores))),
                (&unit.label("bound"), &|row| unit.number(bound(row))),
                (&unit.label("read + hash"), &|(_, case)| unit.number(case.both.median())),
                (&unit.label("IQR"), &|(_, case)| unit.number(case.both.iqr())),
                ("vs. bound", &|row| ratio(row.1.both.median(), bound(row))),
            ],
        );
        table.with_text([0, 2])
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "hash is the time of one thread for data in memory, divided by the number of threads that have a core. \
             bound is the longer of hash and the faster read at this number of threads; read + hash does both at once."
                .to_owned(),
            "All runs hashed the same words. Times exclude listing the files.".to_owned(),
        ];
        if self.in_memory < self.bytes {
            notes.push(format!(
                "hash was measured for the first {} and scaled to all, which would take too much memory.",
                Bytes(self.in_memory)
            ));
        }
        for (count, problem) in [
            (self.unseen, "files or directories could not be accessed"),
            (self.unreadable, "pieces of files could not be read"),
        ] {
            if count > 0 {
                notes.push(format!("{} {problem}.", Count(count)));
            }
        }
        notes.extend(self.parts.iter().filter_map(|part| part.cold).map(Cold::note));
        notes.push(IQR_NOTE.to_owned());
        notes
    }

    fn picture(&self) -> Option<String> {
        Some(self.chart().svg())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::super::WordHash;
    use super::*;
    use crate::cache::tests::cold;
    use crate::experiment::tests::{nonzero, round_trips_through_its_file};
    use crate::machine::Machine;
    use crate::sample::Sample;

    fn part(cold: Option<Cold>, reading: [f64; 2]) -> CacheTimes {
        let case = |width, ahead, both| WidthTimes {
            width: nonzero(width),
            ahead,
            reading: Sample::new(vec![reading[usize::from(ahead)]]),
            both: Sample::new(vec![both]),
        };
        let cases = vec![case(1, false, 0.8), case(1, true, 0.66), case(4, false, 0.5), case(4, true, 0.48)];
        CacheTimes { cold, working: Sample::new(vec![0.6]), cases }
    }

    fn example() -> Overlap {
        Overlap {
            machine: Machine::example(2),
            path: "tree".to_owned(),
            files: 12,
            bytes: 1_000_000,
            unseen: 0,
            unreadable: 0,
            work: NonZeroU32::MIN,
            words: WordHash { count: 150_000, sum: u64::MAX },
            in_memory: 1_000_000,
            parts: vec![part(None, [0.1, 0.1]), part(Some(cold(Some(0))), [0.7, 0.65])],
        }
    }

    #[test]
    fn the_bound_is_the_longer_of_reading_and_hashing() {
        let table = example().table().markdown();
        let rows: Vec<&str> = table.lines().skip(2).collect();
        let expected = [
            "| warm cache | 1 | no | 100.00 | 600.00 | 600.00 | 800.00 | 0.00 | 1.33 |",
            "| warm cache | 1 | yes | 100.00 | 600.00 | 600.00 | 660.00 | 0.00 | 1.10 |",
            "| warm cache | 4 | no | 100.00 | 300.00 | 300.00 | 500.00 | 0.00 | 1.67 |",
            "| warm cache | 4 | yes | 100.00 | 300.00 | 300.00 | 480.00 | 0.00 | 1.60 |",
            "| cold cache | 1 | no | 700.00 | 600.00 | 650.00 | 800.00 | 0.00 | 1.23 |",
            "| cold cache | 1 | yes | 650.00 | 600.00 | 650.00 | 660.00 | 0.00 | 1.02 |",
            "| cold cache | 4 | no | 700.00 | 300.00 | 650.00 | 500.00 | 0.00 | 0.77 |",
            "| cold cache | 4 | yes | 650.00 | 300.00 | 650.00 | 480.00 | 0.00 | 0.74 |",
        ];
        assert_eq!(rows, expected);
        round_trips_through_its_file(&example());
    }

    #[test]
    fn caveats_are_in_the_notes() {
        let mut overlap = example();
        overlap.in_memory = 500_000;
        overlap.unreadable = 3;
        let notes = overlap.notes().join("\n");
        for caveat in [
            "the first 500 kB and scaled to all",
            "3 pieces of files could not be read.",
            "Caches were dropped before each cold run by the kernel",
        ] {
            assert!(notes.contains(caveat), "{notes}");
        }
    }

    #[test]
    fn there_is_a_panel_for_each_cache_state() {
        let mut overlap = example();
        let titles = |overlap: &Overlap| {
            overlap.chart().panels.into_iter().map(|panel| panel.title).collect::<Vec<_>>()
        };
        assert_eq!(titles(&overlap), ["warm cache", "cold cache"]);
        overlap.parts[1].cold = Some(cold(Some(64)));
        assert_eq!(titles(&overlap), ["warm cache", "warm cache (could not be dropped)"]);
        overlap.parts.clear();
        assert!(overlap.picture().is_some() && !overlap.text(&overlap.notes()).is_empty());
    }
}
