//! Flags about the times of records.

use clap::Args;
use finecomb_top::{Bound, Every, Field, TimeForm, Zone};
use serde::{Deserialize, Serialize, Serializer};

use crate::args::selection::{UsageError, nanoseconds_now};
use crate::args::value;
use crate::shell::candidates;
use crate::shell::line::completer;
use crate::top::options::time_fields::TimeFields;

const TIME: &str = "\
Field with the time of a record [default: found for each file]

Without it, the time is in the field that a named format declares, or else in the field with a usual name, such as time, timestamp or ts, \
that has the most times in the first ten records; in plain lines, it is the first time in the line. FIELD,FIELD are a date and a time of \
day. Times are recognised in the forms of access logs, RFC 3339, syslog, klog, ctime, RFC 2822, and as numbers of seconds, ms, µs or ns \
since 1970. A time without a year, as in syslog, is in the latest year in which it is not after the last change of the file. If no record \
has a date, the last is on the day of the last change, and those before it are counted back over midnights.";

const BOUND: &str = "\
An absolute time such as 2026-03-01, '2026-03-01 06:20' or any form that is recognised in logs; a time of day, of today; now, \
today, yesterday, or 'yesterday 09:00'; or a duration such as 90s, 15m, 2h, 3d or 1w: that long ago.";

/// Times of records.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
#[group(skip)]
#[command(next_help_heading = "Time")]
#[allow(missing_docs, reason = "a comment would be a help text")]
pub struct Times {
    /// Field with the time of a record [default: found for each file]
    #[arg(long, value_name = "FIELD", long_help = TIME, value_parser = TimeFields::parse, add = completer(candidates::field))]
    #[serde(deserialize_with = "value::maybe", serialize_with = "show_fields")]
    pub time: Option<TimeFields>,

    /// How times are written, in the directives of strptime, such as '%Y%m%d %H%M%S' [default: any usual form]
    #[arg(long, value_name = "FORMAT", value_parser = TimeForm::format)]
    #[serde(deserialize_with = "value::maybe", serialize_with = "show_form")]
    pub time_format: Option<TimeForm>,

    /// Zone of times without one, and of the buckets: a name such as Europe/Berlin, an offset, UTC or local [default: local]
    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, value_parser = Zone::parse)]
    #[serde(deserialize_with = "value::maybe", serialize_with = "show_zone")]
    pub tz: Option<Zone>,

    /// Count only records from this time on, such as 2h, 'yesterday 09:00' or '2026-03-01 06:20'
    #[arg(long, value_name = "TIME", long_help = format!("Count only records from this time on\n\n{BOUND}"))]
    #[serde(deserialize_with = "value::maybe")]
    pub since: Option<String>,

    /// Count only records before this time
    #[arg(long, value_name = "TIME", long_help = format!("Count only records before this time\n\n{BOUND}"))]
    #[serde(deserialize_with = "value::maybe")]
    pub until: Option<String>,

    /// Count by buckets of time: 10s, 5m, 1h and others that divide a day, 1d, 1w, 1mo, 1q, 1y
    ///
    /// Without a key, there is a row for each bucket, in the order of time. With a key, the -n most frequent keys are counted in
    /// each bucket. Hours, days, months (mo), quarters (q) and years follow --tz. Empty buckets are shown, but not more than 1000 in a row.
    #[arg(long, value_name = "WIDTH", group = "buckets")]
    #[serde(deserialize_with = "value::maybe", serialize_with = "value::shown_maybe")]
    pub every: Option<Every>,
}

fn show_fields<S: Serializer>(fields: &Option<TimeFields>, serializer: S) -> Result<S::Ok, S::Error> {
    fields.as_ref().map(TimeFields::to_string).serialize(serializer)
}

pub(super) fn show_field<S: Serializer>(field: &Option<Field>, serializer: S) -> Result<S::Ok, S::Error> {
    field.as_ref().map(Field::written).serialize(serializer)
}

fn show_form<S: Serializer>(form: &Option<TimeForm>, serializer: S) -> Result<S::Ok, S::Error> {
    let format = match form {
        Some(TimeForm::Format(format)) => Some(format),
        Some(TimeForm::Usual) | None => None,
    };
    format.serialize(serializer)
}

fn show_zone<S: Serializer>(zone: &Option<Zone>, serializer: S) -> Result<S::Ok, S::Error> {
    zone.as_ref().and_then(Zone::name).serialize(serializer)
}

impl Times {
    pub(super) fn fields(&self) -> Vec<Field> {
        self.time.as_ref().map(|fields| fields.0.clone()).unwrap_or_default()
    }

    pub(super) fn form(&self) -> TimeForm {
        self.time_format.clone().unwrap_or_default()
    }

    pub(super) fn zone(&self) -> Zone {
        self.tz.clone().unwrap_or_else(Zone::system)
    }

    /// The same with an absolute window.
    ///
    /// # Errors
    /// If the zone of the machine has no name.
    pub(super) fn fixed(&self, [since, until]: [Option<Bound>; 2]) -> Result<Self, UsageError> {
        let zone = self.zone();
        let is_dated = since.is_some() || until.is_some() || self.every.is_some();
        if is_dated && zone.name().is_none() {
            return Err(UsageError(
                "--save-counts: the zone of this machine has no name; use --tz with one".to_owned(),
            ));
        }
        let bound = |bound: Bound| bound.to_string();
        Ok(Self {
            tz: is_dated.then_some(zone),
            since: since.map(bound),
            until: until.map(bound),
            ..self.clone()
        })
    }

    /// The ends of the window.
    pub(super) fn window(&self) -> Result<[Option<Bound>; 2], UsageError> {
        let (zone, now) = (self.zone(), nanoseconds_now());
        let bound = |flag: &str, text: &Option<String>| {
            let parsed = text.as_deref().map(|text| Bound::parse(text, &zone, now)).transpose();
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
