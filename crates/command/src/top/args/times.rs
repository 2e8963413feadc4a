//! Flags about the times of records.

use clap::Args;
use finecomb_top::{Bound, Every, Field, Slack, TimeForm, Zone};

use crate::args::selection::{UsageError, nanoseconds_now};

const TIME: &str = "\
Field with the time of a record [default: found for each file]

Without it, the time is the first field with a usual name such as time, timestamp or ts, or in plain lines the first time in the \
line. Times are recognised in the forms of access logs, RFC 3339, syslog, ctime, RFC 2822, and as numbers of seconds, ms, µs or ns \
since 1970. A time without a year, as in syslog, is in the latest year in which it is not after the last change of the file.";

const BOUND: &str = "\
An absolute time such as 2026-03-01, '2026-03-01 06:20' or any form that is recognised in logs; a time of day, of today; now, \
today, yesterday, or 'yesterday 09:00'; or a duration such as 90s, 15m, 2h, 3d or 1w: that long ago.";

const SORTED: &str = "\
Read only the window of files that are in the order of time, give or take SLACK [default SLACK: 60s]

This promises that no record is earlier than one before it by more than SLACK, a duration such as 0s, 90s, 15m or 2h. Then the part \
of a file between --since and --until is found by binary search, and the rest is not read. The records that are read are checked: if \
they contradict the promise, one line on standard error names two of them, and the exit status is 2. Small files, compressed files, pipes and \
CSV are read whole.";

/// Times of records.
#[derive(Args, Clone)]
#[command(next_help_heading = "Time")]
pub(crate) struct Times {
    /// Field with the time of a record [default: found for each file]
    #[arg(long, value_name = "FIELD", long_help = TIME, value_parser = parse_field)]
    time: Option<Field>,

    /// How times are written, in the directives of strptime, such as '%Y%m%d %H%M%S' [default: any usual form]
    #[arg(long, value_name = "FORMAT", value_parser = TimeForm::format)]
    time_format: Option<TimeForm>,

    /// Zone of times without one, and of the buckets: a name such as Europe/Berlin, an offset, UTC or local
    #[arg(long, value_name = "ZONE", default_value = "local", allow_hyphen_values = true, value_parser = Zone::parse)]
    tz: Zone,

    /// Count only records from this time on, such as 2h, 'yesterday 09:00' or '2026-03-01 06:20'
    #[arg(long, value_name = "TIME", long_help = format!("Count only records from this time on\n\n{BOUND}"))]
    since: Option<String>,

    /// Count only records before this time
    #[arg(long, value_name = "TIME", long_help = format!("Count only records before this time\n\n{BOUND}"))]
    until: Option<String>,

    /// Read only the window of files that are in the order of time, give or take SLACK [default SLACK: 60s]
    #[arg(long, value_name = "SLACK", num_args = 0..=1, require_equals = true, default_missing_value = "60s", long_help = SORTED)]
    sorted: Option<Slack>,

    /// Count by buckets of time: 10s, 5m, 1h, 1d, 1w, or others that divide a day
    ///
    /// Without a key, there is a row for each bucket, in the order of time. With a key, the -n most frequent keys are counted in
    /// each bucket. Days and hours follow --tz. Empty buckets are shown, but not more than 1000 in a row.
    #[arg(long, value_name = "WIDTH", group = "buckets")]
    pub(super) every: Option<Every>,
}

fn parse_field(text: &str) -> Result<Field, String> {
    Field::parse(text).map_err(|error| error.to_string())
}

impl Times {
    pub(super) fn field(&self) -> Option<Field> {
        self.time.clone()
    }

    pub(super) fn form(&self) -> TimeForm {
        self.time_format.clone().unwrap_or_default()
    }

    /// The given format of times.
    pub(super) fn format(&self) -> Option<&str> {
        match self.time_format.as_ref()? {
            TimeForm::Usual => None,
            TimeForm::Format(format) => Some(format),
        }
    }

    pub(super) fn zone(&self) -> Zone {
        self.tz.clone()
    }

    pub(super) fn sorted(&self) -> Option<Slack> {
        self.sorted
    }

    /// The same, but with the promise about the order of files that others have.
    pub(super) fn with_order_of(self, other: &Self) -> Self {
        Self { sorted: other.sorted, ..self }
    }

    /// The ends of the window.
    pub(super) fn window(&self) -> Result<[Option<Bound>; 2], UsageError> {
        let now = nanoseconds_now();
        let bound = |flag: &str, text: &Option<String>| {
            let parsed = text.as_deref().map(|text| Bound::parse(text, &self.tz, now)).transpose();
            parsed.map_err(|error| UsageError(format!("{flag}: {error}")))
        };
        let [since, until] = [bound("--since", &self.since)?, bound("--until", &self.until)?];
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            return Err(UsageError("--since is not before --until".to_owned()));
        }
        Ok([since, until])
    }

    /// Whether some records are rejected.
    pub(super) fn selects(&self) -> bool {
        self.since.is_some() || self.until.is_some()
    }
}
