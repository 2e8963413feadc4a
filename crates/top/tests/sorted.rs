//! Windows of logs in the order of time: the binary search, compared with a count of the whole file.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use finecomb_scan::{Inputs, ProblemKind, ScanOptions, Width};
use finecomb_top::{Bound, Field, InputFormat, Outcome, Query, QueryError, QueryOptions, Slack, Zone, top};
use jiff::Timestamp;
use proptest::prelude::*;
use tempfile::TempDir;

/// 2026-03-01T00:00:00Z.
const START: i64 = 1_772_323_200;

/// A line of a log.
#[derive(Clone, Debug)]
enum LogLine {
    /// A record of this second after the start, with padding of this length.
    Record(i64, usize),
    /// A line without a time, of this length.
    Untimed(usize),
}

/// How the lines of a log are written.
#[derive(Clone, Copy, Debug)]
struct LogStyle {
    form: Form,
    has_carriage_returns: bool,
    ends_with_line_feed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Lines,
    Epoch,
    Syslog,
    Json,
    Logfmt,
    Combined,
    Tsv,
    /// The time is the group of an expression.
    Group,
}

const FORMS: [Form; 8] = [
    Form::Lines,
    Form::Epoch,
    Form::Syslog,
    Form::Json,
    Form::Logfmt,
    Form::Combined,
    Form::Tsv,
    Form::Group,
];

impl Form {
    fn record(self, id: usize, second: i64, padding: usize) -> String {
        let time =
            |form| Timestamp::from_second(START + second).expect("in range").strftime(form).to_string();
        let rfc = time("%Y-%m-%dT%H:%M:%SZ");
        let pad = "x".repeat(padding);
        match self {
            Self::Lines => format!("{rfc} id{id} {pad}"),
            Self::Epoch => format!("{} id{id} {pad}", START + second),
            Self::Syslog => format!("{} host id{id}: {pad}", time("%b %e %H:%M:%S")),
            Self::Json => format!("{{\"id\":\"id{id}\",\"pad\":\"{pad}\",\"ts\":\"{rfc}\"}}"),
            Self::Logfmt => format!("id=id{id} pad=x{pad} ts={rfc}"),
            Self::Combined => {
                let time = time("%d/%b/%Y:%H:%M:%S +0000");
                format!("::1 - id{id} [{time}] \"GET /{pad} HTTP/1.1\" 200 1 \"-\" \"-\"")
            }
            Self::Tsv => format!("id{id}\t{rfc}\t{pad}"),
            Self::Group => format!("id{id} {pad} at={rfc};"),
        }
    }

    /// A query that counts each record by its own key.
    fn options(self) -> QueryOptions {
        let named = |name: &str| vec![Field::named(name)];
        let options = QueryOptions::default().number(usize::MAX).zone(Zone::UTC);
        match self {
            Self::Lines | Self::Epoch => options.fields("2".parse().expect("fields")),
            Self::Syslog => options.fields("5".parse().expect("fields")),
            Self::Json => options.input(Some(InputFormat::Json)).names(named("id")),
            Self::Logfmt => options.input(Some(InputFormat::Logfmt)).names(named("id")),
            Self::Combined => options.input(Some(InputFormat::Combined)).names(named("user")),
            Self::Tsv => {
                options.input(Some(InputFormat::Tsv)).names(named("id")).time(vec![Field::named("time")])
            }
            Self::Group => options
                .extract(vec!["(?P<id>id[0-9]+) .*at=(?P<at>[^;]*);".to_owned()])
                .names(named("id"))
                .time(vec![Field::named("at")]),
        }
    }
}

fn text(lines: &[LogLine], style: LogStyle) -> String {
    let end = if style.has_carriage_returns { "\r\n" } else { "\n" };
    let mut text = if style.form == Form::Tsv { format!("id\ttime\tpad{end}") } else { String::new() };
    for (id, line) in lines.iter().enumerate() {
        match *line {
            LogLine::Record(second, padding) => text += &style.form.record(id, second, padding),
            LogLine::Untimed(length) => text += &"y".repeat(length),
        }
        text += end;
    }
    if !style.ends_with_line_feed {
        text.truncate(text.trim_end().len());
    }
    text
}

fn styles() -> impl Strategy<Value = LogStyle> {
    (prop::sample::select(&FORMS[..]), any::<bool>(), any::<bool>()).prop_map(|(form, cr, lf)| LogStyle {
        form,
        has_carriage_returns: cr,
        ends_with_line_feed: lf,
    })
}

/// A log that is in the order of time, give or take a slack. The first record has a time, so that the file is recognised.
fn log(slack: i64) -> impl Strategy<Value = Vec<LogLine>> {
    let gap = prop_oneof![6 => 0..3_i64, 2 => 0..100_i64, 1 => 1000..2000_i64];
    let padding = prop_oneof![20 => 0..40_usize, 1 => 0..3000_usize];
    let record = (gap, 0..=slack, padding).prop_map(Ok);
    let untimed = prop_oneof![10 => 0..30_usize, 1 => 0..5000_usize];
    let line = prop_oneof![8 => record.clone(), 1 => untimed.prop_map(Err)];
    (record, prop::collection::vec(line, 0..300)).prop_map(|(first, lines)| {
        let mut now = 0;
        let line = |line| match line {
            Ok((gap, early, padding)) => {
                now += gap;
                LogLine::Record(now - early, padding)
            }
            Err(length) => LogLine::Untimed(length),
        };
        iter::once(first).chain(lines).map(line).collect()
    })
}

/// The ends of a window: two records, a bit moved, or nothing.
type WindowEnds = [Option<(prop::sample::Index, i64)>; 2];

fn ends() -> impl Strategy<Value = WindowEnds> {
    let end = || prop::option::weighted(0.8, (any::<prop::sample::Index>(), -3..3_i64));
    [end(), end()]
}

/// The window between two ends, which has one end at least.
fn window(lines: &[LogLine], ends: &WindowEnds) -> [Option<i64>; 2] {
    let seconds = lines.iter().filter_map(|line| match line {
        LogLine::Record(second, _) => Some(START + second),
        LogLine::Untimed(_) => None,
    });
    let seconds: Vec<i64> = seconds.collect();
    if seconds.is_empty() {
        return [Some(START), None];
    }
    let second = |end: &Option<(prop::sample::Index, i64)>| end.map(|(at, by)| at.get(&seconds) + by);
    match [second(&ends[0]), second(&ends[1])] {
        [None, None] => [Some(START), None],
        [Some(one), Some(other)] => [Some(one.min(other)), Some(one.max(other) + 1)],
        window => window,
    }
}

fn bound(second: i64) -> Bound {
    Bound::parse(&second.to_string(), &Zone::UTC, 0).expect("a bound")
}

fn count(path: &Path, options: &QueryOptions, (width, block_size): (usize, usize)) -> Outcome {
    let query = Query::new(options).expect("a valid query");
    let scan = ScanOptions::default().width(Width::Fixed(width)).block_size(block_size);
    top(&Inputs::new([path]), &scan, &query)
}

const WAYS: [(usize, usize); 8] =
    [(1, 1), (3, 1), (1, 100), (2, 100), (8, 100), (64, 4096), (3, 4096), (8, 128 << 10)];

/// Writes a log whose last change was at this second.
fn write(path: &Path, text: &str, changed: i64) {
    fs::write(path, text).expect("a file");
    let changed = std::time::UNIX_EPOCH + std::time::Duration::from_secs(changed as u64);
    fs::File::options().write(true).open(path).expect("a file").set_modified(changed).expect("a time");
}

fn slack(seconds: i64) -> Slack {
    format!("{seconds}s").parse().expect("a duration")
}

/// The greatest time by which a record of these is earlier than one before it.
fn disorder(seconds: impl Iterator<Item = i64>) -> i64 {
    let mut latest = i64::MIN;
    seconds.fold(0, |most, second| {
        latest = latest.max(second);
        most.max(latest - second)
    })
}

fn contradictions(outcome: &Outcome) -> Vec<String> {
    let texts = outcome.problems.iter().filter(|problem| !problem.is_note()).map(|problem| {
        assert!(matches!(problem.kind, ProblemKind::Contradiction(_)), "{problem}");
        problem.kind.to_string()
    });
    texts.collect()
}

/// Writes lines to a file. Returns its directory, its path, and the options of a query for a window.
fn written(lines: &[LogLine], style: LogStyle, ends: &WindowEnds) -> (TempDir, PathBuf, QueryOptions) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("log");
    write(&path, &text(lines, style), START + 1_000_000);
    let [since, until] = window(lines, ends).map(|end| end.map(bound));
    let options = style.form.options().since(since).until(until);
    (directory, path, options)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 1 } else { ProptestConfig::default().cases / 2 }))]

    #[test]
    fn a_log_in_the_order_of_time_has_the_same_counts_as_if_it_was_read_whole(
        (seconds, lines) in (0..20_i64).prop_flat_map(|slack| (Just(slack), log(slack))),
        style in styles(),
        ends in ends(),
    ) {
        let (_directory, path, options) = written(&lines, style, &ends);
        let whole = count(&path, &options, (1, 128 << 10));
        prop_assert!(whole.problems.is_empty(), "{:?}", whole.problems);
        let options = options.sorted(Some(slack(seconds)));
        for way in WAYS {
            let sorted = count(&path, &options, way);
            prop_assert_eq!(contradictions(&sorted), Vec::<String>::new());
            prop_assert_eq!(&sorted.answer.top, &whole.answer.top, "{:?}", way);
            prop_assert_eq!(sorted.answer.records, whole.answer.records);
        }
    }

    #[test]
    fn a_log_in_another_order_is_reported_if_that_is_seen(
        lines in log(100),
        style in styles(),
        ends in ends(),
    ) {
        let (_directory, path, options) = written(&lines, style, &ends);
        let whole = count(&path, &options, (1, 128 << 10));
        let options = options.sorted(Some(slack(5)));
        let seconds = |is_wanted: &dyn Fn(usize) -> bool| {
            let seconds = lines.iter().enumerate().filter_map(|(id, line)| match line {
                LogLine::Record(second, _) if is_wanted(id) => Some(*second),
                _ => None,
            });
            disorder(seconds)
        };
        for block_size in [1, 100, 1000] {
            let one = count(&path, &options, (1, block_size));
            let reports = contradictions(&one);
            for width in [2, 8] {
                let other = count(&path, &options, (width, block_size));
                prop_assert_eq!(&other.answer.top, &one.answer.top);
                prop_assert_eq!(&contradictions(&other), &reports);
            }
            if let [report] = &reports[..] {
                prop_assert!(seconds(&|_| true) > 5, "{}", report);
            }
            let was_read_whole = reports.iter().any(|report| report.contains("read whole"));
            if was_read_whole || reports.is_empty() && one.bytes == whole.bytes {
                prop_assert_eq!(&one.answer.top, &whole.answer.top);
                continue;
            }
            let ids = one.answer.top.iter().map(|key| {
                let key = String::from_utf8(key.key.clone()).expect("text");
                key.trim_matches(|char: char| !char.is_ascii_digit()).parse().expect("a number")
            });
            let ids: Vec<usize> = ids.collect();
            if seconds(&|id| ids.contains(&id)) > 5 {
                prop_assert_eq!(reports.len(), 1);
            }
        }
    }
}

/// A log of `count` records, one a second.
fn seconds(count: i64) -> Vec<LogLine> {
    (0..count).map(|second| LogLine::Record(second, 0)).collect()
}

const STYLE: LogStyle =
    LogStyle { form: Form::Lines, has_carriage_returns: false, ends_with_line_feed: true };

/// Counts the records from second to second of a log, with a slack of 5 seconds, at several block sizes.
fn count_window(lines: &[LogLine], range: std::ops::Range<i64>, check: impl Fn(&Outcome, &Outcome, usize)) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("log");
    write(&path, &text(lines, STYLE), START + 1_000_000);
    let [since, until] = [range.start, range.end].map(|second| Some(bound(START + second)));
    let options = STYLE.form.options().since(since).until(until);
    let whole = count(&path, &options, (2, 128 << 10));
    let options = options.sorted(Some(slack(5)));
    for block_size in [1, 100, 4096] {
        check(&count(&path, &options, (2, block_size)), &whole, block_size);
    }
}

#[test]
fn only_the_window_is_read_give_or_take_the_slack_and_a_block() {
    count_window(&seconds(10_000), 7000..7100, |sorted, whole, block_size| {
        assert_eq!(sorted.answer.top, whole.answer.top);
        let line = whole.bytes / 10_000 + 1;
        assert!(sorted.bytes >= 100 * (line - 1));
        assert!(sorted.bytes <= 114 * line + 2 * block_size as u64, "{} bytes", sorted.bytes);
        assert!(sorted.problems.is_empty());
    });
}

#[test]
fn at_most_a_block_is_read_of_a_file_outside_of_the_window() {
    for range in [-200..-100, 20_000..20_100] {
        count_window(&seconds(10_000), range, |sorted, _, block_size| {
            assert!(sorted.bytes <= block_size as u64 + 40, "{} bytes", sorted.bytes);
            assert_eq!(sorted.answer.records, 0);
            assert!(sorted.problems.is_empty());
        });
    }
}

#[test]
fn records_of_the_same_time_are_all_counted() {
    let lines: Vec<LogLine> = (0..5000).map(|number| LogLine::Record(number / 2000 * 50, 0)).collect();
    count_window(&lines, 50..51, |sorted, whole, _| {
        assert_eq!(sorted.answer.records, 2000);
        assert_eq!(sorted.answer.top, whole.answer.top);
        assert!(sorted.bytes < whole.bytes / 2);
    });
}

#[test]
fn a_part_without_times_is_skipped_and_a_large_one_noted() {
    for (length, is_noted) in [(500_000, false), (6_000_000, true)] {
        // The part is in the middle, where the search begins.
        let mut lines = seconds(1000);
        lines.splice(500..500, (0..length / 1000).map(|_| LogLine::Untimed(999)));
        count_window(&lines, 700..710, |sorted, whole, block_size| {
            assert_eq!(sorted.answer.top, whole.answer.top);
            assert_eq!(sorted.bytes < 100_000, !is_noted, "{} {block_size}", sorted.bytes);
            let notes: Vec<bool> = sorted.problems.iter().map(|problem| problem.is_note()).collect();
            assert_eq!(notes, vec![true; usize::from(is_noted)]);
        });
        count_window(&lines, 300..310, |sorted, whole, _| {
            assert_eq!(sorted.answer.top, whole.answer.top);
            assert!(sorted.bytes < 100_000, "{}", sorted.bytes);
        });
    }
}

#[test]
fn times_without_a_year_are_in_order_across_the_turn_of_the_year() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("log");
    // From 2025-12-20 to 2026-01-12, a line every 200 seconds.
    let first = -71 * 86_400;
    let lines: Vec<LogLine> = (0..10_000).map(|number| LogLine::Record(first + 200 * number, 0)).collect();
    let style = LogStyle { form: Form::Syslog, ..STYLE };
    write(&path, &text(&lines, style), START + first + 2_000_000);
    let options = style
        .form
        .options()
        .since(Some(Bound::parse("2025-12-31 23:00", &Zone::UTC, 0).expect("a time")))
        .until(Some(Bound::parse("2026-01-01 01:00", &Zone::UTC, 0).expect("a time")));
    let whole = count(&path, &options, (2, 100));
    let sorted = count(&path, &options.sorted(Some(slack(60))), (2, 100));
    assert_eq!(sorted.answer.records, 36);
    assert_eq!(sorted.answer.top, whole.answer.top);
    assert!(sorted.problems.is_empty() && sorted.bytes < 5000);
}

#[test]
fn a_search_that_finds_another_order_has_the_file_read_whole() {
    let descending: Vec<LogLine> = seconds(1000).into_iter().rev().collect();
    count_window(&descending, 300..310, |sorted, whole, _| {
        assert_eq!(sorted.answer.top, whole.answer.top);
        assert_eq!(sorted.bytes, whole.bytes);
        let [report] = &contradictions(sorted)[..] else { panic!("one report") };
        assert!(report.starts_with("not in the order of time: 2026-03-01T00:"), "{report}");
        assert!(report.contains("the file was read whole and the counts are complete"), "{report}");
    });
}

#[test]
fn records_of_the_window_in_another_order_are_reported() {
    let mut lines = seconds(10_000);
    // Within the window, and none that the search reads.
    lines[7020] = LogLine::Record(7033, 0);
    count_window(&lines, 7000..7100, |sorted, whole, block_size| {
        if block_size == 1 {
            assert_eq!(sorted.answer.top, whole.answer.top);
            let [report] = &contradictions(sorted)[..] else { panic!("one report") };
            let expected = "not in the order of time: 2026-03-01T01:57:01Z at byte ";
            assert!(report.starts_with(expected), "{report}");
            assert!(report.contains(" is 12s before 2026-03-01T01:57:13Z at byte "), "{report}");
            assert!(report.ends_with("records of the window may be missing"), "{report}");
        }
    });
}

#[test]
fn a_time_in_a_group_of_each_match_cannot_be_sorted() {
    let options = Form::Group.options().since(Some(bound(START))).sorted(Some(slack(5))).each(true);
    let error = Query::new(&options).expect_err("a record may have several times");
    assert!(matches!(error, QueryError::SortedByGroup), "{error}");
    let options = QueryOptions::default().sorted(Some(slack(5)));
    let error = Query::new(&options).expect_err("there is no window");
    assert!(matches!(error, QueryError::SortedWithoutWindow), "{error}");
}
