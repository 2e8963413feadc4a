//! Formats of the generated logs.

mod cities;
mod csv;
mod json;
mod logfmt;
mod nginx;
mod request;
mod stations;
mod syslog;
mod tsv;

use std::io::{self, Write};

use clap::ValueEnum;

use crate::log;

/// Format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Access log in Apache's combined format
    Combined,
    /// Access log of nginx with request times and hosts
    Nginx,
    /// Requests of a service, an object per line
    Json,
    /// Messages of a service as key=value
    Logfmt,
    /// Messages of a host in the format of RFC 3164
    Syslog,
    /// Orders of a shop, with header and quotes
    Csv,
    /// Measurements of hosts, with header
    Tsv,
    /// Temperatures of stations, as in the one-billion-row challenge
    Stations,
}

impl Format {
    /// Writes `lines` records, which depend only on `seed`.
    pub(crate) fn write(self, out: &mut impl Write, lines: u64, seed: u64) -> io::Result<()> {
        match self {
            Self::Combined => log::write(out, lines, seed),
            Self::Nginx => nginx::write(out, lines, seed),
            Self::Json => json::write(out, lines, seed),
            Self::Logfmt => logfmt::write(out, lines, seed),
            Self::Syslog => syslog::write(out, lines, seed),
            Self::Csv => csv::write(out, lines, seed),
            Self::Tsv => tsv::write(out, lines, seed),
            Self::Stations => stations::write(out, lines, seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn made(format: Format, lines: u64, seed: u64) -> String {
        let mut made = Vec::new();
        format.write(&mut made, lines, seed).expect("writing to memory");
        String::from_utf8(made).expect("UTF-8")
    }

    /// Number of records, headers not counted. A line feed in quotes does not end a record.
    fn records(format: Format, text: &str) -> u64 {
        let is_header = matches!(format, Format::Csv | Format::Tsv);
        let quoted = |line_feed: &usize| {
            format == Format::Csv && text[..*line_feed].bytes().filter(|&byte| byte == b'"').count() % 2 == 1
        };
        let ends = text.match_indices('\n').map(|(at, _)| at).filter(|at| !quoted(at)).count();
        ends as u64 - u64::from(is_header)
    }

    #[test]
    fn a_log_has_the_given_number_of_records_and_depends_on_the_seed() {
        for &format in Format::value_variants() {
            for lines in [0, 1, 700] {
                let log = made(format, lines, 9);
                assert_eq!(records(format, &log), lines, "{format:?}");
                assert!(log.is_empty() || log.ends_with('\n'), "{format:?}");
            }
            assert_eq!(made(format, 700, 9), made(format, 700, 9));
            assert_ne!(made(format, 700, 9), made(format, 700, 10), "{format:?}");
        }
    }

    #[test]
    fn records_have_the_lengths_of_real_ones() {
        for (format, lengths) in [(Format::Json, 300..=800), (Format::Logfmt, 140..=240)] {
            for record in made(format, 20_000, 3).lines() {
                assert!(lengths.contains(&record.len()), "{} bytes: {record}", record.len());
            }
        }
    }

    #[test]
    fn one_client_fails_in_a_burst() {
        let log = made(Format::Nginx, 10_000, 6);
        let failures = log.lines().filter(|line| line.contains("\" 503 ")).map(|line| line.split(' ').next());
        let mut by_client = BTreeMap::new();
        for client in failures {
            *by_client.entry(client.unwrap_or_default()).or_insert(0) += 1;
        }
        assert_eq!(by_client.keys().copied().collect::<Vec<_>>(), ["198.51.100.66"]);
        assert!((120..180).contains(&by_client["198.51.100.66"]), "{by_client:?}");
    }

    #[test]
    fn request_times_reach_from_a_millisecond_to_nine_seconds() {
        let log = made(Format::Nginx, 50_000, 2);
        let times = log.lines().filter_map(|line| line.rsplit(' ').nth(1)).map(|time| time.replace('.', ""));
        let mut times: Vec<u64> = times.map(|time| time.parse().expect("a number")).collect();
        times.sort_unstable();
        assert_eq!((times[0], times[times.len() - 1]), (1, 9000));
        assert!(
            times[times.len() / 2] < 20 && times[times.len() / 100 * 99] > 200,
            "{:?}",
            times[times.len() / 2]
        );
    }
}
