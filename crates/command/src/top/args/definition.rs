//! The definition of counts: the flags that decide what is counted, and under which key.
//!
//! Files of counts have it, so that their counts are only merged with others of the same definition, and no flag is needed for that.

use finecomb_top::{Bound, Field};

use crate::args::words::Words;
use crate::top::args::{Arguments, KeyFields, UsageError, measures};

impl Arguments {
    /// The flags that decide what is counted, in a fixed order and with absolute times. Equal definitions have equal flags.
    ///
    /// # Errors
    /// If the flags are contradictory, or the zone of the machine has no name.
    pub(crate) fn definition(&self) -> Result<Words, UsageError> {
        let mut words = Words::default();
        self.add_input(&mut words);
        self.add_key(&mut words);
        words.values("--grep", &self.grep);
        words.values("--vgrep", &self.vgrep);
        self.condition.iter().for_each(|condition| words.value("--where", condition));
        self.add_times(&mut words)?;
        for measure in self.measures.distinct()? {
            let (flag, value) = measures::flag(&measure);
            words.value(flag, value);
        }
        Ok(words)
    }

    /// Replaces relative times by absolute ones.
    ///
    /// # Errors
    /// If there is no definition.
    pub(crate) fn fix_definition(&mut self) -> Result<(), String> {
        let definition = self.definition().map_err(|error| error.to_string())?;
        self.define(&definition)
    }

    /// Replaces the definition by one that [`Arguments::definition`] has made.
    ///
    /// # Errors
    /// If the words are none.
    pub(crate) fn define(&mut self, definition: &Words) -> Result<(), String> {
        let other: Self = definition.clone().parse(&[])?;
        self.input = other.input;
        self.no_header = other.no_header;
        self.fieldseparator = other.fieldseparator;
        self.quotedfields = other.quotedfields;
        self.fields = other.fields;
        self.extract = other.extract;
        self.each = other.each;
        self.missing = other.missing;
        self.ignore_case = other.ignore_case;
        self.normalize = other.normalize;
        self.sed = other.sed;
        self.grep = other.grep;
        self.vgrep = other.vgrep;
        self.condition = other.condition;
        self.measures = other.measures;
        self.times = other.times.with_order_of(&self.times);
        // A window of the last hours is in the definition by its beginning.
        self.tail.last = None;
        Ok(())
    }

    fn add_input(&self, words: &mut Words) {
        self.input.iter().for_each(|format| words.value("--input", format.to_string()));
        words.switch("--no-header", self.no_header);
        self.fieldseparator.iter().for_each(|separator| words.value("--fieldseparator", separator));
        words.switch("--quotedfields", self.quotedfields);
    }

    fn add_key(&self, words: &mut Words) {
        let fields = self.fields.as_ref().map(|fields| match fields {
            KeyFields::Positions(list) => list.to_string(),
            KeyFields::Names(names) => names.iter().map(Field::written).collect::<Vec<_>>().join(","),
        });
        fields.iter().for_each(|fields| words.value("--fields", fields));
        words.values("--extract", &self.extract);
        words.switch("--each", self.each);
        self.missing.iter().for_each(|text| words.value("--missing", text));
        words.switch("--ignore-case", self.ignore_case);
        self.normalize.iter().for_each(|kinds| words.value("--normalize", kinds.to_string()));
        for [regex, replacement] in self.sed.as_chunks::<2>().0 {
            words.words("--sed", [regex, replacement]);
        }
    }

    fn add_times(&self, words: &mut Words) -> Result<(), UsageError> {
        self.times.field().iter().for_each(|field| words.value("--time", field.written()));
        self.times.format().iter().for_each(|format| words.value("--time-format", format));
        let [since, until] = self.window()?;
        if since.is_none() && until.is_none() && self.times.every.is_none() {
            return Ok(());
        }
        let zone = self.times.zone();
        let name = zone.name().ok_or_else(|| {
            UsageError("--save-counts: the zone of this machine has no name; use --tz with one".to_owned())
        })?;
        words.value("--tz", name);
        let bound = |bound: Bound| bound.to_string();
        since.map(bound).iter().for_each(|since| words.value("--since", since));
        until.map(bound).iter().for_each(|until| words.value("--until", until));
        self.times.every.iter().for_each(|every| words.value("--every", every.to_string()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use clap::{Args, Command};

    use super::*;
    use crate::top::args::saved::NOT_MERGED;

    fn parsed(words: &[&str]) -> Arguments {
        Words::new(words.iter().map(OsString::from).collect()).parse(&[]).expect("valid arguments")
    }

    fn words(arguments: &[&str]) -> String {
        parsed(arguments).definition().expect("a definition").to_string()
    }

    #[test]
    fn a_definition_has_the_flags_that_decide_what_is_counted() {
        assert_eq!(words(&["-n", "3", "--percent", "-j", "2", "a.log"]), "");
        assert_eq!(
            words(&["-f", "1,3-4", "-p", "a b", "-g", "x", "-g=y"]),
            "'--fieldseparator=a b' --fields=1,3-4 --grep=x --grep=y"
        );
        assert_eq!(
            words(&["-f", "b,.a.b,\"a.b\"", "--p99", "t", "--sum", "t"]),
            "'--fields=b,a.b,\"a.b\"' --percentile=99:t --sum=t"
        );
        assert_eq!(
            words(&["-s", "-x", "--", "--normalize", "all"]),
            "--normalize=uuid,ip,path,hex,num --sed -x --"
        );
        assert_eq!(words(&["--tz", "UTC"]), "", "no time is looked at");
        assert_eq!(words(&["--every=1h", "--tz=+0100"]), "--tz=+01:00 --every=1h");
        assert_eq!(
            words(&["--since", "2026-03-01 06:20", "--until=2026-03-02", "--tz", "Europe/Berlin"]),
            "--tz=Europe/Berlin --since=2026-03-01T05:20:00Z --until=2026-03-01T23:00:00Z"
        );
    }

    #[test]
    fn a_definition_is_that_of_its_words() {
        for flags in [
            &["-f", "1,3--1", "-q", "--missing=-", "-i"][..],
            &["--input", "nginx:$remote_addr [$time_local]", "-f", "\"a,b\",c", "--where", "c ~ \"x y\""],
            &["--input=csv", "--no-header", "-p", ";", "-e", "(a)|b", "--each", "-v", "\u{e9}"],
            &["-s", "--", "", "-s", "a'b", "\n", "--percentile", "99.9:7", "--distinct", "x", "--mean=y"],
            &["--last", "2h", "--time", "t", "--time-format", "%Y-%m-%d %H", "--every", "1w", "--sorted=5s"],
            &["--since", "1h30m", "--until", "now"],
        ] {
            let mut arguments = parsed(flags);
            arguments.fix_definition().expect("a definition");
            let definition = arguments.definition().expect("a definition");
            let mut other = parsed(&["-n", "7", "--totals", "-f", "9"]);
            other.define(&Words::from_bytes(&definition.to_bytes())).expect("its words");
            assert_eq!(other.definition().expect("a definition"), definition);
            let shown = |arguments: &Arguments, number| {
                let options = arguments.query().expect("a query").number(number).sorted(None);
                format!("{options:?}")
            };
            assert_eq!(shown(&other, 1), shown(&arguments, 1));
            if !flags.iter().any(|flag| ["--last", "--since"].contains(flag)) {
                assert_eq!(
                    shown(&other, 1),
                    shown(&parsed(flags), 1),
                    "without a relative time, nothing changes"
                );
            }
            assert_eq!((other.number, other.totals), (Some(7), true));
        }
    }

    /// A new flag must be one of the definition, or be none on purpose.
    #[test]
    fn flags_are_in_the_definition_or_in_the_list_of_others() {
        let others = [
            "files",
            "number",
            "sort",
            "reverse",
            "min_count",
            "percent",
            "cumulative",
            "totals",
            "bars",
            "format",
            "json",
            "plot",
            "encoding",
            "every",
            "save_counts",
            "merge",
            "temporary_directory",
            "recount",
            "allowed_hosts",
            "threads",
            "profile_output",
            "max_line",
            "block_size",
        ];
        let command = Arguments::augment_args(Command::new("top"));
        let all: BTreeSet<&str> = command.get_arguments().map(|flag| flag.get_id().as_str()).collect();
        let known: BTreeSet<&str> = NOT_MERGED.into_iter().chain(others).collect();
        assert_eq!(all, known);
    }
}
