//! Report on a command with a cold cache, as text and as a picture.

use finecomb_sys::units::{Bytes, counted};

use super::{CommandOverlap, CommandTimes};
use crate::cache::Cold;
use crate::chart::{Axis, Chart, Panel, Point, Series, SeriesKind};
use crate::experiment::Experiment;
use crate::sample::{IQR_NOTE, Sample};
use crate::scale::Width;
use crate::table::ResultTable;
use crate::units::{TimeUnit, medians_of, ratio};

impl CommandOverlap {
    fn unit(&self) -> TimeUnit {
        TimeUnit::of(self.cases.iter().map(|case| case.cold.median()))
    }

    fn runs(&self) -> usize {
        self.cases.first().map_or(0, |case| case.cold.values().len())
    }

    /// Wall times by number of threads; `auto` has none.
    fn chart(&self) -> Chart {
        let unit = self.unit();
        let command = |name, sample: &dyn Fn(&CommandTimes) -> Sample| {
            let point = |case: &CommandTimes| match case.width {
                Width::Fixed(threads) => Some(Point::of(threads.get(), &sample(case), unit)),
                Width::Auto => None,
            };
            Series::new(name, SeriesKind::Joined, self.cases.iter().filter_map(point))
        };
        let reading = self.reading.iter().map(|(threads, sample)| Point::of(threads.get(), sample, unit));
        Chart {
            title: self.command.clone(),
            subtitle: format!("{}; {}", medians_of(self.runs()), self.machine),
            panels: vec![Panel {
                title: format!("reading {}", Bytes(self.bytes)),
                x_label: "threads",
                y_label: unit.label("wall"),
                x: Axis::Log2,
                series: vec![
                    command("cold cache", &|case| case.cold.clone()),
                    command("warm cache", &|case| case.warm.clone()),
                    Series::new("reading alone", SeriesKind::Dashed, reading),
                ],
            }],
        }
    }
}

impl Experiment for CommandOverlap {
    const NAME: &'static str = "overlap-command";

    fn heading(&self) -> String {
        let (command, files, bytes) = (&self.command, counted(self.files, "file"), Bytes(self.bytes));
        format!("{command}, reading {bytes} of {files}: {}; {}", medians_of(self.runs()), self.machine)
    }

    fn table(&self) -> ResultTable {
        let unit = self.unit();
        ResultTable::of(
            &self.cases,
            [
                ("width", &|case| case.width.to_string()),
                (&unit.label("read"), &|case| unit.number(self.reading_at(case.width))),
                (&unit.label("warm"), &|case| unit.number(case.warm.median())),
                (&unit.label("bound"), &|case| unit.number(self.bound_of(case))),
                (&unit.label("cold"), &|case| unit.number(case.cold.median())),
                (&unit.label("IQR"), &|case| unit.number(case.cold.iqr())),
                ("vs. bound", &|case| ratio(case.cold.median(), self.bound_of(case))),
            ],
        )
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "read is the time to read the files alone with a cold cache and this number of threads, with prefetch and without listing \
             them; for auto, the fastest of these. warm is the command with a warm cache. bound is the longer of the two; cold is the \
             command with a cold cache."
                .to_owned(),
            format!("Output: {}, identical at every width.", Bytes(self.output.bytes)),
        ];
        notes.extend(self.cold.map(Cold::note));
        notes.push(IQR_NOTE.to_owned());
        notes
    }

    fn picture(&self) -> Option<String> {
        Some(self.chart().svg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::cold;
    use crate::experiment::tests::{nonzero, round_trips_through_its_file};
    use crate::machine::Machine;
    use crate::run::Digest;

    fn example() -> CommandOverlap {
        let sample = |seconds| Sample::new(vec![seconds]);
        let case = |width, warm, cold| CommandTimes { width, warm: sample(warm), cold: sample(cold) };
        CommandOverlap {
            machine: Machine::example(2),
            command: "comb symbols tree".to_owned(),
            files: 12,
            bytes: 1_000_000,
            output: Digest::default(),
            cold: Some(cold(Some(0))),
            reading: vec![(nonzero(1), sample(0.4)), (nonzero(2), sample(0.3))],
            cases: vec![
                case(Width::Fixed(nonzero(1)), 0.5, 0.6),
                case(Width::Fixed(nonzero(2)), 0.25, 0.36),
                case(Width::Auto, 0.25, 0.33),
            ],
        }
    }

    #[test]
    fn the_bound_is_the_longer_of_reading_and_the_warm_command() {
        let table = example().table().markdown();
        let expected = [
            "| 1 | 400.00 | 500.00 | 500.00 | 600.00 | 0.00 | 1.20 |",
            "| 2 | 300.00 | 250.00 | 300.00 | 360.00 | 0.00 | 1.20 |",
            "| auto | 300.00 | 250.00 | 300.00 | 330.00 | 0.00 | 1.10 |",
        ];
        assert_eq!(table.lines().skip(2).collect::<Vec<_>>(), expected);
        let overlap = example();
        let dropped = "Caches were dropped before each cold run by";
        assert!(overlap.notes().iter().any(|note| note.starts_with(dropped)));
        let heading = "comb symbols tree, reading 1.00 MB of 12 files: single runs; ";
        assert!(overlap.heading().starts_with(heading));
        assert!(overlap.picture().is_some_and(|svg| svg.contains("reading alone")));
        round_trips_through_its_file(&overlap);
    }
}
