//! Formats of the generated logs.

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
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Samples of the repository: format, number of records, file.
    const SAMPLES: [(Format, u64, &str); 7] = [
        (Format::Nginx, 600, "nginx.log"),
        (Format::Json, 400, "service.json"),
        (Format::Logfmt, 600, "app.logfmt"),
        (Format::Syslog, 800, "auth.log"),
        (Format::Csv, 400, "orders.csv"),
        (Format::Tsv, 200, "hosts.tsv"),
        (Format::Stations, 1000, "stations.csv"),
    ];

    #[test]
    fn samples_are_what_the_generator_writes() {
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
        for (format, lines, name) in SAMPLES {
            let mut made = Vec::new();
            format.write(&mut made, lines, 1).expect("writing to memory");
            let committed = fs::read(samples.join(name)).expect("a sample");
            assert!(made == committed, "{name}");
        }
    }

    #[test]
    fn another_seed_gives_another_log_of_as_many_records() {
        for (format, lines, name) in SAMPLES.into_iter().filter(|(format, ..)| *format != Format::Csv) {
            let made = |seed| {
                let mut made = Vec::new();
                format.write(&mut made, lines, seed).expect("writing to memory");
                made
            };
            assert!(made(1) != made(2), "{name}");
            let header = usize::from(format == Format::Tsv);
            assert_eq!(
                made(2).split_inclusive(|&byte| byte == b'\n').count(),
                lines as usize + header,
                "{name}"
            );
        }
    }
}
