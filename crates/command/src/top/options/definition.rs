//! Definition of counts: the options that select records, keys, times and measures. Stored counts have them, so that only counts of the same
//! definition are added.

use std::collections::BTreeMap;
use std::fmt;
use std::slice;

use clap::Args;
use clap_complete::ArgValueCandidates;
use finecomb_top::{Field, InputFormat, Normalizer, NumberFormat, RecordBegin, Separator, Unwrap};
use serde::de::value::MapDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use crate::args::delimiter::delimiter;
use crate::args::selection::UsageError;
use crate::args::value;
use crate::command_line::quoted;
use crate::shell::candidates;
use crate::shell::line::completer;
use crate::top::options::field_unit::FieldUnit;
use crate::top::options::key_fields::KeyFields;
use crate::top::options::measures;
use crate::top::options::measures::{Measures, parse_field};
use crate::top::options::times::{Times, show_field};
use finecomb_sys::display::excerpt;

const FORMATS: &str = "\
Format of the records [default: lines if fields are numbers, auto if they have names]

lines: fields are numbers. auto: decided for each file by its first records; --sample shows the decision. clf, combined: access \
logs, with the fields remote_addr, user, time, request, method, path, query, url, protocol, status, bytes, and with combined \
referer, user_agent; vhost_combined: the same after host and port. nginx:LOG_FORMAT: the log_format of nginx, with its variables. csv: RFC 4180 with a header; -p sets another \
delimiter. tsv: tab-separated values with a header. json: objects, one per line, over several lines or in an array, with fields such as .a.b or .list[0]. logfmt: \
key=value. syslog: RFC 3164 and 5424, with the fields time, host, program, pid, message, facility, severity. regex:PATTERN: \
the named groups are the fields. Formats of well-known programs have names, such as haproxy and klog; so have those of files in \
finecomb/formats of the configuration directory: --formats lists all of them.";

const RECORD: &str = "\
Lines that begin a record of several lines: time, indent, or those that match REGEX [default: every line]

time: lines that begin with a time, also after an opening bracket or a level such as ERROR. indent: all lines except empty and indented \
ones, 'Caused by:', '... 12 more', and a Python traceback up to its exception. The lines before the first such line are a record \
of their own. Filters, -e and --where see all lines of a record. Its first line is the key without -f and -e, and has the fields \
by number and those of access logs and logfmt, and the time.";

const WHERE: &str = "\
Count only records for which a condition on fields holds

Comparisons are == != < <= > >=, and ~ !~ for regular expressions; they are combined by && || ! and parentheses. Fields are \
names, or numbers as in $7; names with other characters are in backquotes. Values are numbers, also with a unit as in 1.5s or \
10MB (m is minutes, M a million), or strings in quotes. A comparison with a field that the record lacks is false; a field alone holds if the record has it.";

/// Records to count, their keys, times and measures.
#[derive(Args, Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
#[group(skip)]
#[allow(missing_docs, reason = "a comment would be a help text")]
pub struct CountDefinition {
    /// Format of the records [default: lines if fields are numbers, auto if they have names]
    #[arg(long, value_name = "FORMAT", add = ArgValueCandidates::new(candidates::inputs), long_help = FORMATS, help_heading = "Input")]
    #[serde(deserialize_with = "value::maybe", serialize_with = "value::shown_maybe")]
    pub input: Option<InputFormat>,

    /// Lines that begin a record of several lines: time, indent, or those that match REGEX [default: every line]
    #[arg(long, value_name = "time|indent|REGEX", allow_hyphen_values = true, add = ArgValueCandidates::new(candidates::records), long_help = RECORD, help_heading = "Input")]
    #[serde(deserialize_with = "value::maybe", serialize_with = "value::shown_maybe")]
    pub record: Option<RecordBegin>,

    /// Records of JSON are the elements of the array at PATH in each document, such as .Records
    ///
    /// Without it, records are documents, one per line or over several lines, and the elements of documents that are arrays.
    #[arg(long, value_name = "PATH", value_parser = parse_field, help_heading = "Input")]
    #[serde(deserialize_with = "value::maybe", serialize_with = "show_field")]
    pub records: Option<Field>,

    /// Record is the text of FIELD, such as log in the logs of Docker
    ///
    /// Filters, expressions and fields are those of the text. Its format is detected for each file, or set as in log=json. Fields
    /// that it lacks are those of the record around it, whose format --input sets. A line end at the end of the text is dropped.
    /// The formats docker, cri and auditd name their field themselves.
    #[arg(long, value_name = "FIELD[=FORMAT]", help_heading = "Input")]
    #[serde(deserialize_with = "value::maybe", serialize_with = "value::shown_maybe")]
    pub unwrap: Option<Unwrap>,

    /// CSV and TSV files have no header; fields are numbers
    #[arg(long, help_heading = "Input")]
    pub no_header: bool,

    /// Regular expression that separates fields, or delimiter of CSV [default: runs of spaces and tabs, ignoring leading ones]
    #[arg(
        short = 'p',
        long = "fieldseparator",
        value_name = "REGEX",
        conflicts_with = "quotedfields",
        allow_hyphen_values = true,
        help_heading = "Input"
    )]
    #[serde(deserialize_with = "value::maybe")]
    pub fieldseparator: Option<String>,

    /// Treat text in double quotes as one field and remove the quotes; a backslash escapes a quote
    ///
    /// If a quote is never closed, the record has only the fields before it. The record is skipped if -f selects others, or
    /// counts fields from the end.
    #[arg(short, long, help_heading = "Input")]
    pub quotedfields: bool,

    /// Fields that make up the key: numbers such as 7 or 1,3 or 2-4, or -1 for the last, or names [default: the whole record]
    ///
    /// Fields are numbered from 1, or from the end, with -1 for the last. Lists and ranges can be combined, as in 2-4,1;
    /// 2--1 selects all but the first. The key has the fields in the given order, joined by a space.
    ///
    /// Names come from the format, such as status or path,status, or .request.headers.host in JSON. A name with dots, commas or
    /// blanks can be written in double quotes. @file is the name of the input, also in --where and measures.
    ///
    /// Records that lack one of the fields are skipped; a message on standard error gives their number.
    #[arg(short, long, value_name = "LIST", allow_hyphen_values = true, value_parser = KeyFields::parse, add = completer(candidates::fields), help_heading = "Key")]
    #[serde(deserialize_with = "value::joined", serialize_with = "value::shown_maybe")]
    pub fields: Option<KeyFields>,

    /// Key is what REGEX matches, or its groups; repeatable, any may match
    ///
    /// The key is the match, or the first group if there are groups; several groups are several fields. Named groups are
    /// also fields for -f, --where and the measures. Records without a match are not counted; a message on standard error
    /// gives their number.
    #[arg(short = 'e', long, value_name = "REGEX", allow_hyphen_values = true, help_heading = "Key")]
    #[serde(deserialize_with = "value::many")]
    pub extract: Vec<String>,

    /// With -e, count all matches of a record, not only the first
    #[arg(long, requires = "extract", help_heading = "Key")]
    pub each: bool,

    /// Print a column for each value of FIELD: the counts of each key with it, or its measure
    ///
    /// The 50 most frequent values have a column, in their order: by number if all are numbers. A note gives the number of the others, which
    /// the column count includes. Without -f and -e, all records are one row.
    #[arg(long, value_name = "FIELD", value_parser = parse_field, conflicts_with_all = ["every", "plot", "approx", "tail", "live", "listen"], add = completer(candidates::field), help_heading = "Key")]
    #[serde(deserialize_with = "value::maybe", serialize_with = "show_field")]
    pub columns: Option<Field>,

    /// Count records without a field of the key, with TEXT in place of the field
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Key")]
    #[serde(deserialize_with = "value::maybe")]
    pub missing: Option<String>,

    /// Ignore case: in regular expressions, in strings of --where, and in keys, which are printed in lower case
    #[arg(short, long, help_heading = "Key")]
    pub ignore_case: bool,

    /// Replace parts of the key that vary by placeholders: num, hex, uuid, ip, path, time, or all
    #[arg(long, value_name = "NAME,...", value_parser = Normalizer::new, add = completer(candidates::placeholders), help_heading = "Key")]
    #[serde(deserialize_with = "value::joined", serialize_with = "value::shown_maybe")]
    pub normalize: Option<Normalizer>,

    /// Replace all matches in the key; repeatable, applied in the given order
    ///
    /// In the replacement, $1 or ${name} inserts the text of a capture group, and $$ a dollar sign. A name is as long as
    /// possible: $1x is the group named 1x; ${1}x is the first group followed by x.
    #[arg(short, long, num_args = 2, value_names = ["REGEX", "REPLACEMENT"], allow_hyphen_values = true, help_heading = "Key")]
    #[serde(deserialize_with = "value::pairs", serialize_with = "value::shown_pairs")]
    pub sed: Vec<String>,

    /// Count only records that match; repeatable, all must match
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true, help_heading = "Filter")]
    #[serde(deserialize_with = "value::many")]
    pub grep: Vec<String>,

    /// Skip records that match; repeatable, none may match
    #[arg(short, long, value_name = "REGEX", allow_hyphen_values = true, help_heading = "Filter")]
    #[serde(deserialize_with = "value::many")]
    pub vgrep: Vec<String>,

    /// Count only records for which a condition on fields holds, such as 'status >= 500 && path ~ "^/api"'
    #[arg(long = "where", id = "where", value_name = "CONDITION", long_help = WHERE, allow_hyphen_values = true, add = completer(candidates::condition), help_heading = "Filter")]
    #[serde(rename = "where", deserialize_with = "value::maybe")]
    pub condition: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    pub times: Times,

    #[command(flatten)]
    #[serde(flatten)]
    pub measures: Measures,

    /// Unit of the numbers without one in a measured field: ns, us, ms, s, m, h or d; repeatable
    ///
    /// A field is plain or has units of time. If some of its numbers have a unit, those without one are left out and reported, unless
    /// this flag gives their unit.
    #[arg(long = "unit", value_name = "FIELD=UNIT", value_parser = FieldUnit::parse, help_heading = "Measures")]
    #[serde(deserialize_with = "value::many", serialize_with = "value::shown_all")]
    pub unit: Vec<FieldUnit>,

    /// How numbers of measured fields are written, by the example of one: 1,234.50 or $12 or '1.234,50 €'
    #[arg(long, value_name = "NUMBER", help_heading = "Measures")]
    #[serde(deserialize_with = "value::maybe", serialize_with = "value::shown_maybe")]
    pub number_format: Option<NumberFormat>,
}

impl CountDefinition {
    /// The same with absolute times. Equal definitions are then stored equally.
    ///
    /// # Errors
    /// If the options are contradictory, or the zone of the machine has no name.
    pub(crate) fn fixed(&self, times: Times) -> Result<Self, UsageError> {
        let measures = Measures(self.measures.distinct()?);
        Ok(Self { times, measures, ..self.clone() })
    }

    pub(super) fn separator(&self) -> Separator {
        match &self.fieldseparator {
            Some(_) if self.has_delimiter() => Separator::Blanks,
            Some(regex) => Separator::Regex(regex.clone()),
            None if self.quotedfields => Separator::Quotes,
            None => Separator::Blanks,
        }
    }

    /// Whether `-p` is a delimiter rather than a regular expression.
    fn has_delimiter(&self) -> bool {
        matches!(self.input, Some(InputFormat::Csv))
    }

    pub(super) fn delimiter(&self) -> Result<u8, UsageError> {
        let Some(text) = self.fieldseparator.as_deref().filter(|_| self.has_delimiter()) else {
            return Ok(b',');
        };
        delimiter(text).ok_or_else(|| {
            UsageError(format!(
                "-p '{text}': the delimiter of CSV is a single ASCII character other than a quote"
            ))
        })
    }

    /// Whether fields may be quoted.
    pub(crate) fn has_quoted_fields(&self) -> bool {
        self.quotedfields
    }

    /// Whether some records are rejected before the condition.
    pub(crate) fn selects_records(&self) -> bool {
        !(self.grep.is_empty() && self.vgrep.is_empty() && self.extract.is_empty())
    }

    /// Whether the key is what `-e` matches, or its groups.
    pub(crate) fn has_group_as_key(&self) -> bool {
        self.fields.is_none() && !self.extract.is_empty()
    }

    /// Whether each record with a match of `-e` is counted once, or left out of the count with a message.
    pub(crate) fn counts_all_matched(&self) -> bool {
        !self.each && self.condition.is_none()
    }

    /// Whether the key is the record.
    pub(crate) fn counts_whole_records(&self) -> bool {
        self.times.every.is_none() && self.fields.is_none() && self.extract.is_empty()
    }

    /// Whether records are counted by buckets of time and nothing else.
    pub(crate) fn has_only_buckets(&self) -> bool {
        self.times.every.is_some() && self.fields.is_none() && self.extract.is_empty()
    }
}

/// The stored form of a definition: its options in JSON, in the order of their names, so that equal definitions are equal bytes. Counts of
/// the same definition can be added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDefinition(BTreeMap<String, Value>);

impl StoredDefinition {
    /// The form of a definition whose times are absolute.
    pub(crate) fn new(definition: &CountDefinition) -> Self {
        let is_given = |value: &Value| match value {
            Value::Null | Value::Bool(false) => false,
            Value::Array(values) => !values.is_empty(),
            _ => true,
        };
        let options = serde_json::to_value(definition).and_then(serde_json::from_value);
        let mut options: BTreeMap<_, _> = options.expect("options are an object");
        options.retain(|_, value| is_given(value));
        Self(options)
    }

    /// The definition.
    ///
    /// # Errors
    /// If an option is unknown or invalid.
    pub(crate) fn definition(&self) -> Result<CountDefinition, String> {
        let options = MapDeserializer::<_, Error>::new(self.0.clone().into_iter());
        let definition = CountDefinition::deserialize(options).map_err(|error| error.to_string())?;
        match Self::new(&definition) == *self {
            true => Ok(definition),
            false => Err(format!("this comb does not know all options of '{self}'")),
        }
    }

    /// The form in a file of counts.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(&self.0).unwrap_or_default()
    }

    /// Reads the form of [`StoredDefinition::to_bytes`].
    ///
    /// # Errors
    /// If it is another.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let invalid = || format!("invalid definition of counts '{}'", excerpt(bytes));
        serde_json::from_slice(bytes).map(Self).map_err(|_| invalid())
    }
}

/// The options as flags, as a shell reads them.
impl fmt::Display for StoredDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        for (name, value) in &self.0 {
            let flag = format!("--{}", name.replace('_', "-"));
            let items = if let Value::Array(items) = value { &items[..] } else { slice::from_ref(value) };
            for item in items {
                match (name.as_str(), item) {
                    (measures::STORED, Value::String(column)) => {
                        let flag = measures::parse(column).map(|measure| measures::flag(&measure));
                        words.extend(flag.map(|(flag, field)| format!("{flag}={field}")));
                    }
                    // A flag with two values.
                    (_, Value::Array(texts)) => {
                        words.push(flag.clone());
                        words.extend(texts.iter().filter_map(value::text));
                    }
                    (_, Value::Bool(_)) => words.push(flag.clone()),
                    (_, item) => words.extend(value::text(item).map(|text| format!("{flag}={text}"))),
                }
            }
        }
        let words: Vec<String> = words.iter().map(|word| quoted(&excerpt(word.as_bytes()))).collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::{Args, Command, FromArgMatches};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::args::named::Named;
    use crate::top::args::TopArguments;
    use crate::top::args::saved::NOT_MERGED;
    use crate::top::options::CountOptions;

    fn parsed(flags: &[&str]) -> CountOptions {
        let command = TopArguments::augment_args(Command::new("top")).no_binary_name(true);
        let mut matches = command.try_get_matches_from(flags).expect("valid flags");
        TopArguments::from_arg_matches_mut(&mut matches).expect("valid flags").options
    }

    fn stored(options: &CountOptions) -> StoredDefinition {
        let mut options = options.clone();
        options.fix_definition().expect("a definition");
        StoredDefinition::new(&options.definition)
    }

    fn words_of(options: &CountOptions) -> String {
        stored(options).to_string()
    }

    #[test]
    fn a_definition_has_the_options_that_decide_what_is_counted() {
        let times = "--since=2026-03-01T05:20:00Z --tz=Europe/Berlin --until=2026-03-01T23:00:00Z";
        for (flags, definition) in [
            ("-n|3|--percent|-j|2|a.log", ""),
            ("-f|1,3-4|-p|a b|-g|x|-g=y", "--fields=1,3-4 '--fieldseparator=a b' --grep=x --grep=y"),
            ("-f|b,.a.b,\"a.b\"|--p99|t|--sum|t", "'--fields=b,a.b,\"a.b\"' --percentile=99:t --sum=t"),
            ("--share|a>1 or b|--sum=t", "'--share=a>1 or b' --sum=t"),
            ("--sum=t|--unit=t=ms|--number-format=1,234.50", "--sum=t --number-format=1,234.50 --unit=t=ms"),
            ("-s|-x|--|--normalize|all", "--normalize=all --sed -x --"),
            // No time is looked at.
            ("--tz|UTC", ""),
            ("--every=1h|--tz=+0100", "--every=1h --tz=+01:00"),
            ("--since|2026-03-01 06:20|--until=2026-03-02|--tz|Europe/Berlin", times),
        ] {
            let flags: Vec<&str> = flags.split('|').collect();
            assert_eq!(words_of(&parsed(&flags)), definition, "{flags:?}");
        }
    }

    #[test]
    fn a_definition_is_that_of_its_stored_form() {
        for flags in [
            &["-f", "1,3--1", "-q", "--missing=-", "-i"][..],
            &["--input", "nginx:$remote_addr [$time_local]", "-f", "\"a,b\",c", "--where", "c ~ \"x y\""],
            &["--input=csv", "--no-header", "-p", ";", "-e", "(a)|b", "--each", "-v", "\u{e9}"],
            &["-s", "--", "", "-s", "a'b", "\n", "--percentile", "99.9:7", "--distinct", "x", "--mean=y"],
            &["--last", "2h", "--time", "t", "--time-format", "%Y-%m-%d %H", "--every", "1w", "--sorted=5s"],
            &["--since", "1h30m", "--until", "now"],
        ] {
            let mut options = parsed(flags);
            options.fix_definition().expect("a definition");
            let stored = StoredDefinition::new(&options.definition);
            let mut other = parsed(&["-n", "7", "-f", "9"]);
            let read = StoredDefinition::from_bytes(&stored.to_bytes()).expect("its form");
            other.definition = read.definition().expect("its form");
            assert_eq!(StoredDefinition::new(&other.definition), stored);
            let shown = |options: &CountOptions| {
                format!("{:?}", options.query(false).expect("a query").number(1).sorted(None))
            };
            assert_eq!(shown(&other), shown(&options));
            if !flags.iter().any(|flag| ["--last", "--since"].contains(flag)) {
                assert_eq!(shown(&other), shown(&parsed(flags)), "without a relative time, nothing changes");
            }
            assert_eq!(other.number, Some(7));
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let reason =
            |bytes: &[u8]| StoredDefinition::from_bytes(bytes).and_then(|stored| stored.definition()).err();
        let invalid = "invalid definition of counts '--fields=7\\u{0}'";
        assert_eq!(reason(b"--fields=7\0").as_deref(), Some(invalid));
        let unknown = "this comb does not know all options of '--color=red'";
        assert_eq!(reason(b"{\"color\":\"red\"}").as_deref(), Some(unknown));
        assert!(reason(b"{\"every\":\"7\"}").is_some());
        assert_eq!(reason(b"{}"), None);
    }

    #[test]
    fn values_of_other_types_are_refused() {
        let reason = |name: &str, value: Value| CountOptions::named(vec![(name.to_owned(), value)]).err();
        for name in ["extract", "fields", "missing", "sum", "grep", "since", "number"] {
            assert!(reason(name, Value::from(true)).is_some(), "{name}");
            assert!(reason(name, json!([["a"]])).is_some(), "{name}");
        }
        assert_eq!(reason("sum", json!(["a", ""])).map(|text| text.contains("'--sum <FIELD>'")), Some(true));
        assert_eq!(reason("approx", Value::from(true)), None);
        assert_eq!(reason("sorted", Value::from(true)), None);
    }

    /// Options of a definition by name, and the same as flags.
    fn definitions() -> impl Strategy<Value = (Named, Vec<String>)> {
        let text = "[a-z]{1,5}";
        let option = prop_oneof![
            (prop::sample::select(vec!["missing", "fieldseparator", "where"]), text)
                .prop_map(|(name, text)| (name.to_owned(), Value::from(text))),
            (
                prop::sample::select(vec!["grep", "vgrep", "extract", "sum", "max", "p99"]),
                prop::collection::vec(text, 1..3)
            )
                .prop_map(|(name, texts)| (name.to_owned(), Value::from(texts))),
            prop::sample::select(vec!["no_header", "each", "ignore_case"])
                .prop_map(|name| (name.to_owned(), Value::from(true))),
            (1..90_u32).prop_map(|field| ("fields".to_owned(), Value::from(field))),
            (text, text)
                .prop_map(|(regex, replacement)| ("sed".to_owned(), Value::from(vec![regex, replacement]))),
        ];
        prop::collection::vec(option, 0..6).prop_map(|options| {
            let mut named = Named::new();
            for (name, value) in options {
                named.retain(|(other, _)| *other != name);
                named.push((name, value));
            }
            // One needs the other.
            if !named.iter().any(|(name, _)| name == "extract") {
                named.retain(|(name, _)| name != "each");
            }
            let flags = named.iter().flat_map(|(name, value)| {
                let flag = format!("--{}", name.replace('_', "-"));
                let texts = match value {
                    Value::Array(texts) => texts.iter().filter_map(value::text).collect(),
                    Value::Bool(_) => return vec![flag],
                    value => Vec::from_iter(value::text(value)),
                };
                match name.as_str() {
                    "sed" => [vec![flag], texts].concat(),
                    _ => texts.iter().map(|text| format!("{flag}={text}")).collect(),
                }
            });
            (named.clone(), flags.collect())
        })
    }

    #[test]
    fn measures_keep_the_order_given() {
        let named = [("sum", "b"), ("max", "c"), ("mean", "a"), ("p99", "d")];
        let named = named.map(|(name, field)| (name.to_owned(), Value::from(field))).into();
        let options = CountOptions::named(named).expect("valid options");
        assert_eq!(words_of(&options), "--sum=b --max=c --mean=a --percentile=99:d");
    }

    proptest! {
        #[test]
        fn options_by_name_are_those_of_the_flags((named, flags) in definitions()) {
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let by_name = CountOptions::named(named).map_err(TestCaseError::fail)?;
            let by_flags = parsed(&flags);
            prop_assert_eq!(format!("{by_name:?}"), format!("{by_flags:?}"));
            let Ok(()) = by_name.clone().fix_definition() else { return Ok(()) };
            let form = stored(&by_name);
            let read = StoredDefinition::from_bytes(&form.to_bytes()).map_err(TestCaseError::fail)?;
            prop_assert_eq!(&read, &form);
            let definition = read.definition().map_err(TestCaseError::fail)?;
            prop_assert_eq!(format!("{definition:?}"), format!("{:?}", by_flags.definition));
        }
    }

    #[test]
    fn flags_of_a_definition_do_not_go_with_merge() {
        let command = CountDefinition::augment_args(Command::new("top"));
        let all: BTreeSet<&str> = command.get_arguments().map(|flag| flag.get_id().as_str()).collect();
        let refused: BTreeSet<&str> = NOT_MERGED.into_iter().chain(["every"]).collect();
        assert!(all.is_subset(&refused), "{:?}", all.difference(&refused));
    }
}
