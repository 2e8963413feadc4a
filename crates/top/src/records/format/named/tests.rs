use std::sync::Arc;

use super::*;
use crate::format_samples::sample_faults;
use crate::records::format::detect::{Detected, detect};

/// A definition of these lines.
fn parse(text: &str) -> Result<Arc<NamedFormat>, String> {
    let parsed = NamedFormat::parse("mine", Some(Path::new("mine.toml")), text);
    parsed.map(Arc::new).map_err(|error| error.to_string())
}

fn parsed(text: &str) -> Arc<NamedFormat> {
    parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn parsed_as(name: &str, text: &str) -> Arc<NamedFormat> {
    Arc::new(NamedFormat::parse(name, None, text).unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn every_built_in_format_gives_the_fields_of_its_samples() {
    for &(name, text) in BUILT_IN {
        let format = parsed_as(name, text);
        assert_eq!(sample_faults(&format), [""; 0], "{name}");
        // Its expressions are compiled only where they are used.
        NamedFormat::parse(name, Some(Path::new("mine.toml")), text).expect("expressions that compile");
        assert!(format.samples().len() >= 2, "{name} needs two samples");
        assert_ne!(format.title(), name, "{name} needs a title");
        assert!(!format.fields().is_empty(), "{name}");
    }
    assert!(BUILT_IN.is_sorted(), "in the order of their names");
}

#[test]
fn lines_may_end_with_a_carriage_return() {
    for &(name, text) in BUILT_IN {
        let format = parsed_as(name, text);
        let with_returns = |text: &str| text.replace('\n', "\r\n");
        let with_returns = |sample: &FormatSample| {
            // Not if a line end is written as an escape.
            let of_value = |value: &str| match sample.line.contains(value) {
                true => with_returns(value),
                false => value.to_owned(),
            };
            let fields = sample.fields.iter().map(|(name, value)| (name.clone(), of_value(value)));
            FormatSample { line: with_returns(&sample.line) + "\r\n", fields: fields.collect() }
        };
        let samples = format.samples().iter().map(with_returns).collect();
        let format = Arc::new(NamedFormat { samples, ..NamedFormat::clone(&format) });
        assert_eq!(sample_faults(&format), [""; 0], "{name}");
    }
}

#[test]
fn every_file_is_built_in() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/formats");
    let files =
        std::fs::read_dir(directory).expect("a directory").map(|entry| entry.expect("a file").file_name());
    let mut names: Vec<String> =
        files.map(|name| name.to_string_lossy().trim_end_matches(".toml").to_owned()).collect();
    names.sort();
    assert_eq!(names, BUILT_IN.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn a_definition_has_all_its_keys() {
    let format = parsed(
        "title = 'Mine'\ntemplate = '$client:$port [$at] \"$request\"'\ntime = 'at'\nunwrap = \"request\"\n\
         record = 'time'\nrecognised = '^[0-9]'\n[types]\nclient = 'ip'\nport = 'number' # of 16 bits\n\
         [[sample]]\nline = '2001:db8::1:80 [x] \"GET /a HTTP/1.1\"'\n\
         fields = { client = '2001:db8::1', port = '80', path = '/a' }\n",
    );
    assert_eq!((format.name(), format.title(), format.record()), ("mine", "Mine", Some(&RecordBegin::Time)));
    assert_eq!((format.time(), format.unwrap()), (Some(&Field::named("at")), Some(&Field::named("request"))));
    let fields: Vec<String> = format
        .fields()
        .into_iter()
        .map(|(name, kind)| kind.map_or(name.clone(), |kind| format!("{name}: {}", kind.name())))
        .collect();
    assert_eq!(fields.join(" "), "client: ip port: number at request method path query url protocol");
    assert_eq!(sample_faults(&format), [""; 0]);
}

#[test]
fn samples_that_differ_are_told() {
    let faults = |reader: &str, line: &str, fields: &str| {
        let text = format!("{reader}\n[[sample]]\nline = '''{line}'''\nfields = {{ {fields} }}");
        sample_faults(&parsed(&text)).join("; ")
    };
    let template = "template = '$a [$b]'";
    assert_eq!(faults(template, "1 [2]", "a = '1', b = '2'"), "");
    assert_eq!(faults(template, "1 [2]", "b = '3'"), "sample 1: b is '2' instead of '3'");
    assert_eq!(
        faults(template, "1 2", "b = '3'"),
        "sample 1: malformed at column 1: the record ends before the log format does"
    );
    let json = "base = 'json'";
    assert_eq!(faults(json, r#"{"a":{"b":"\u00e9"}}"#, "'a.b' = 'é'"), "");
    assert_eq!(faults(json, "{}", "a = 'b'"), "sample 1: a is missing instead of 'b'");
    assert_eq!(
        faults("base = 'csv'", "a,b\n1,\"x\ny\"\n", "b = 'x\\ny'"),
        "sample 1: b is 'x\\ny' instead of 'x\\\\ny'"
    );
    assert_eq!(faults("base = 'csv'", "a,b\n1,\"x\ny\"\n", "b = \"x\\ny\""), "");
    assert_eq!(faults("base = 'tsv'", "a\tb\n1\t2\n", "b = '2'"), "");
    assert_eq!(faults("base = 'logfmt'", "a=1 b=2", "b = '2'"), "");
    assert_eq!(faults("pattern = '^(?<a>[0-9]+)(?<b>x)?'", "12", "a = '12'"), "");
}

#[test]
fn wrong_definitions_are_told_with_file_and_line() {
    for (text, expected) in [
        ("", "1: expected one of template, pattern and base"),
        ("title = 'x'", "1: expected one of template, pattern and base"),
        (
            "base = 'json'\npattern = '(?<a>x)'",
            "2: expected one of template, pattern and base; found pattern as well",
        ),
        ("base = 'jsn'", "1: unknown base 'jsn'; did you mean 'json'?"),
        ("base = 'xml'", "1: unknown base 'xml'; expected csv, json, logfmt, tsv, w3c"),
        (
            "\ntemplate = '$a$b'",
            "2: cannot tell where $a ends and $b begins: the log format has no text between them",
        ),
        (
            "pattern = '(x)'",
            "1: the pattern has no named groups; name each field like this: (?<status>[0-9]+)",
        ),
        ("template = '$a'\ntitel = 'x'", "2: unknown key 'titel'; did you mean 'title'?"),
        (
            "template = '$a'\nx = 'x'",
            "2: unknown key 'x'; expected title, template, pattern, base, recognised, header, time, unwrap, record",
        ),
        ("template = '$status'\n\ntime = 'statsu'", "3: unknown field 'statsu'; did you mean 'status'?"),
        ("template = '$a'\n[types]\nb = 'ip'", "3: unknown field 'b'; expected a"),
        ("template = '$a'\n[types]\na = 'byte'", "3: unknown type 'byte'; did you mean 'bytes'?"),
        ("template = '$a'\n[type]\na = 'ip'", "2: unknown table 'type'; expected [types] or [[sample]]"),
        ("template = '$a'\n[[sample]]\nfields = {}", "2: a sample needs a line"),
        (
            "template = '$a'\n[[sample]]\nlines = 'a'",
            "3: expected line = 'a record' or fields = { name = 'value' }",
        ),
        ("base = 'json'\ntime = 'a..b'", "2: expected the name or number of a field"),
        ("base = 'json'\ntitle = { a = 'b' }", "2: expected a text in quotes after 'title ='"),
        ("base = 'json'\ntitle = 'x", "2: unclosed quote"),
    ] {
        assert_eq!(parse(text).expect_err(text), format!("mine.toml:{expected}"), "{text}");
    }
    let error = parse("base = 'json'\nrecognised = '(a'").expect_err("an invalid expression");
    assert!(error.starts_with("mine.toml:2: regex parse error:"), "{error}");
}

/// The format of a text as it is detected, without a name of its own as its debug form.
fn detected(text: &str, wanted: &[&str]) -> String {
    match detect(text.as_bytes(), true, wanted).expect("an answer for all of a file") {
        Detected::Known(format) => format.name().to_owned(),
        other => format!("{other:?}"),
    }
}

#[test]
fn samples_have_no_other_named_format() {
    let is_named = |name: &str| BUILT_IN.iter().any(|(known, _)| *known == name);
    for &(name, text) in BUILT_IN {
        let format = NamedFormat::parse(name, None, text).expect("a definition");
        let lines: Vec<&str> = format.samples().iter().map(|sample| &*sample.line).collect();
        for text in lines.iter().map(|line| (*line).to_owned()).chain([lines.join("\n")]) {
            let found = detected(&text, &[]);
            assert!(found == name || !is_named(&found), "{name} as {found}: {text}");
        }
    }
}

/// The lines of the samples of a format of the product.
fn samples(name: &str) -> String {
    let (_, text) = BUILT_IN.iter().find(|(known, _)| *known == name).expect("a format");
    let format = NamedFormat::parse(name, None, text).expect("a definition");
    format.samples().iter().map(|sample| sample.line.clone() + "\n").collect()
}

#[test]
fn formats_are_recognised_by_each_of_their_samples() {
    for &(name, text) in BUILT_IN {
        for sample in parsed_as(name, text).samples() {
            let line = sample.line.trim_end_matches('\n');
            // Headers are not repeated.
            let lines = format!("{line}\n").repeat(if name == "w3c" { 1 } else { 3 });
            let expected = match name {
                "haproxy" => "syslog",
                "python" if line.starts_with("WARNING:") => "Unknown",
                name => name,
            };
            assert_eq!(detected(&lines, &[]), expected, "{name}: {lines}");
        }
    }
}

#[test]
fn the_first_record_decides_if_records_have_several_lines() {
    let record =
        "2026-03-01 06:20:09,252 ERROR [main] a.B: failed\na.b.Exception: at 2026-02-01 05:00:00\n\tat a.B\n";
    assert_eq!(detected(record, &[]), "log4j");
    assert_eq!(detected(&format!("Banner 1.2\n\n=====\n{record}"), &[]), "log4j");
    assert_eq!(detected(&format!("2026-03-01 06:20:08 started\n{record}"), &[]), "Unknown");
    assert_eq!(detected(&format!("{record}Mar  1 06:20:09 host a: b\n"), &[]), "Unknown");
    let header = "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status";
    assert_eq!(
        detected(&format!("{header}\n2 1 eni-0 a b 1 2 6 1 1 1772346009 1772346069 REJECT OK\n"), &[]),
        "vpcflow"
    );
    // Both formats fit. The fields decide.
    let both = "2026-03-01 06:20:09,123 INFO app.shop: paid\n";
    assert_eq!(detected(both, &[]), "log4j");
    assert_eq!(detected(both, &["levelname"]), "python");
    assert_eq!(detected(both, &["x"]), "log4j");
}

#[test]
fn formats_are_recognised_by_their_lines() {
    for name in ["caddy", "klog"] {
        assert_eq!(detected(&samples(name), &[]), name);
        assert_eq!(detected(&format!("{}\n", samples(name).repeat(9)), &["x"]), name);
    }
    let klog = samples("klog");
    assert_eq!(detected(&format!("goroutine 1 [running]:\n{klog}"), &[]), "klog", "one line may differ");
    assert_eq!(detected(&format!("one\ntwo\n{klog}"), &[]), "Unknown");
    assert_eq!(detected(&format!("{{\"a\":1}}\n{}", samples("caddy")), &[]), "caddy");
    assert_eq!(detected("{\"a\":1}\n{\"a\":2}\n", &[]), "json");
    assert_eq!(detected("#Version: 1.0\n#Fields: a b\n1 2\n", &[]), "w3c");
    assert_eq!(detected("#Version: 1.0\none = two\n", &[]), "Unknown");
}

#[test]
fn a_format_that_was_detected_is_another_only_if_it_lacks_a_wanted_field() {
    let lines = samples("haproxy");
    for (wanted, expected) in [
        (&[][..], "syslog"),
        (&["program"], "syslog"),
        (&["backend_name"], "haproxy"),
        (&["backend_name", "client_ip"], "haproxy"),
        (&["backend_name", "program"], "syslog"),
        (&["nothing"], "syslog"),
    ] {
        assert_eq!(detected(&lines, wanted), expected, "{wanted:?}");
    }
    assert_eq!(detected(&samples("haproxy_raw"), &[]), "haproxy_raw");
    let lines = samples("traefik");
    for (wanted, expected) in [(&[][..], "traefik"), (&["path"], "traefik"), (&["status"], "combined")] {
        assert_eq!(detected(&lines, wanted), expected, "{wanted:?}");
    }
    let combined = lines.replace(|byte: char| byte.is_ascii_digit(), "1");
    assert_eq!(detected(&combined.replace("1ms", "1.111"), &[]), "combined");
}
