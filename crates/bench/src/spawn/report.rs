//! Report on threading strategies, as text and as a picture.

use finecomb_sys::units::{Count, counted};

use super::{DU, Spawn, Strategy, StrategyTimes};
use crate::cache::{Cold, cache_state};
use crate::chart::{Axis, Chart, Panel, Point, Series, SeriesKind};
use crate::experiment::Experiment;
use crate::sample::IQR_NOTE;
use crate::table::ResultTable;
use crate::units::{TimeUnit, medians_of, ratio};

impl Spawn {
    fn wall_of(&self, strategy: Strategy) -> f64 {
        let case = self.cases.iter().find(|case| case.strategy == strategy);
        case.map_or(f64::NAN, |case| case.times.wall.median())
    }

    fn wall_of_du(&self) -> f64 {
        self.du.as_ref().map_or(f64::NAN, |times| times.wall.median())
    }

    fn unit(&self) -> TimeUnit {
        TimeUnit::of(self.cases.iter().map(|case| case.times.wall.median()))
    }

    fn runs(&self) -> usize {
        self.cases.first().map_or(0, |case| case.times.wall.values().len())
    }

    fn circumstances(&self) -> String {
        format!("{}, {}; {}", medians_of(self.runs()), cache_state(self.cold), self.machine)
    }

    /// Wall time of pools by width, with horizontal lines for strategies without a width.
    fn chart(&self) -> Chart {
        let unit = self.unit();
        let pool = |case: &StrategyTimes| {
            let Strategy::Pool(width) = case.strategy else { return None };
            Some(Point::of(width.get(), &case.times.wall, unit))
        };
        let pools: Vec<Point> = self.cases.iter().filter_map(pool).collect();
        // Lines extend beyond the points, and are visible even with a single point.
        let ends = [
            pools.first().map_or(1.0, |point| point.x / 1.1),
            pools.last().map_or(2.0, |point| point.x * 1.1),
        ];
        let level = |name: String, seconds: f64| {
            Series::new(name, SeriesKind::Dashed, ends.map(|x| Point::new(x, unit.scaled(seconds))))
        };
        let mut series = vec![Series::new("pool", SeriesKind::Joined, pools)];
        for strategy in [Strategy::OneThread, Strategy::ThreadPerFile] {
            series.push(level(strategy.to_string(), self.wall_of(strategy)));
        }
        if self.du.is_some() {
            series.push(level(DU.to_owned(), self.wall_of_du()));
        }
        let panel = Panel {
            title: String::new(),
            x_label: "threads in the pool",
            y_label: unit.label("wall"),
            x: Axis::Log2,
            series,
        };
        let title = format!(
            "Searching {} of {} for '{}'",
            counted(self.tally.files, "file"),
            self.path,
            self.pattern
        );
        Chart { title, subtitle: self.circumstances(), panels: vec![panel] }
    }

    fn notes_on_threads(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for case in self.cases.iter().filter(|case| case.strategy == Strategy::ThreadPerFile) {
            let alive = case.alive as u64;
            notes.push(format!(
                "Thread per file: at most {} {} alive at the same time.",
                counted(alive, "thread"),
                if alive == 1 { "was" } else { "were" }
            ));
            if case.refused > 0 {
                let refused = counted(case.refused, "time");
                notes.push(format!(
                    "Starting a thread failed {refused}; the oldest thread was joined before each retry."
                ));
            }
            if case.waits > 0 {
                let waits = counted(case.waits, "time");
                notes.push(format!(
                    "Opening a file failed {waits} because too many were open; it was retried after 1 ms."
                ));
            }
        }
        notes
    }
}

impl Experiment for Spawn {
    const NAME: &'static str = "spawn";

    fn heading(&self) -> String {
        format!("Searching {} for '{}': {}", self.path, self.pattern, self.circumstances())
    }

    fn table(&self) -> ResultTable {
        let unit = self.unit();
        let strategies = self.cases.iter().map(|case| (case.strategy.to_string(), &case.times));
        let du = self.du.iter().map(|times| (DU.to_owned(), times));
        let one = self.wall_of(Strategy::OneThread);
        let table = ResultTable::of(
            strategies.chain(du),
            [
                ("strategy", &|(name, _)| name.clone()),
                (&unit.label("wall"), &|(_, times)| unit.number(times.wall.median())),
                (&unit.label("IQR"), &|(_, times)| unit.number(times.wall.iqr())),
                (&unit.label("CPU"), &|(_, times)| unit.number(times.cpu.median())),
                ("vs. one thread", &|(_, times)| ratio(times.wall.median(), one)),
                ("vs. du -s", &|(_, times)| ratio(times.wall.median(), self.wall_of_du())),
            ],
        );
        table.with_text([0])
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!("All strategies found {}.", self.tally),
            "Times exclude listing the files, except that of du -s, which lists them and reads none."
                .to_owned(),
        ];
        notes.extend(self.notes_on_threads());
        if self.unseen > 0 {
            let inputs = if self.unseen == 1 { "file or directory" } else { "files or directories" };
            notes.push(format!("{} {inputs} could not be accessed.", Count(self.unseen)));
        }
        if self.du.is_none() {
            notes.push("du is not installed, so there is no comparison with it.".to_owned());
        }
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
    use super::super::Times;
    use super::*;
    use crate::experiment::tests::{nonzero, round_trips_through_its_file};
    use crate::machine::Machine;
    use crate::sample::Sample;
    use crate::spawn::SearchCounts;

    fn times(wall: f64) -> Times {
        Times { wall: Sample::new(vec![wall]), cpu: Sample::new(vec![wall / 2.0]) }
    }

    fn example() -> Spawn {
        let case = |strategy, wall, alive| StrategyTimes {
            strategy,
            times: times(wall),
            refused: 0,
            alive,
            waits: 0,
        };
        let pool = |width| Strategy::Pool(nonzero(width));
        Spawn {
            machine: Machine::example(2),
            pattern: "lock".to_owned(),
            path: "tree".to_owned(),
            tally: SearchCounts { files: 80_000, bytes: 1_000_000_000, lines: 1234, unreadable: 0 },
            unseen: 0,
            cold: None,
            cases: vec![
                case(Strategy::OneThread, 2.0, 0),
                case(Strategy::ThreadPerFile, 14.0, 4321),
                case(pool(2), 1.25, 2),
                case(pool(8), 1.5, 8),
            ],
            du: Some(times(0.25)),
        }
    }

    #[test]
    fn the_table_compares_with_one_thread_and_with_du() {
        let expected = "\
Searching tree for 'lock': single runs, warm cache; 2 cores, Some CPU, Linux 6.1, 2025-01-31T12:00:00Z

strategy         wall [s]  IQR [s]  CPU [s]  vs. one thread  vs. du -s
one thread          2.000    0.000    1.000            1.00       8.00
thread per file    14.000    0.000    7.000            7.00      56.00
pool of 2           1.250    0.000    0.625            0.62       5.00
pool of 8           1.500    0.000    0.750            0.75       6.00
du -s               0.250    0.000    0.125            0.12       1.00

All strategies found 1,234 matching lines in 80,000 files with 1.00 GB.
Times exclude listing the files, except that of du -s, which lists them and reads none.
Thread per file: at most 4,321 threads were alive at the same time.
Times are medians; IQR is the interquartile range of the runs.
";
        assert_eq!(example().text(&example().notes()), expected);
        round_trips_through_its_file(&example());
    }

    #[test]
    fn caveats_are_in_the_notes() {
        let mut spawn = example();
        spawn.cases[1].refused = 17;
        spawn.cases[1].waits = 1000;
        spawn.du = None;
        spawn.unseen = 1;
        let notes = spawn.notes().join("\n");
        for caveat in [
            "Starting a thread failed 17 times; the oldest thread was joined before each retry.",
            "Opening a file failed 1,000 times because too many were open",
            "du is not installed",
            "1 file or directory could not be accessed.",
        ] {
            assert!(notes.contains(caveat), "{notes}");
        }
    }

    #[test]
    fn pools_are_points_and_other_strategies_are_lines() {
        let chart = example().chart();
        let shapes: Vec<_> =
            chart.panels[0].series.iter().map(|series| (series.kind, series.points.len())).collect();
        let line = (SeriesKind::Dashed, 2);
        assert_eq!(shapes, [(SeriesKind::Joined, 2), line, line, line]);
        let empty = Spawn { cases: Vec::new(), du: None, ..example() };
        assert!(empty.picture().is_some() && !empty.text(&empty.notes()).is_empty());
    }
}
