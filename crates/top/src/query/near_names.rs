//! Proposes known names that are near to an unknown one.

use crate::query::field::Field;

/// Maximum number of names that are proposed.
const PROPOSED: usize = 3;
/// Maximum number of characters of a name in a message.
const NAME_LENGTH: usize = 40;
/// The similarity of misspelt names, where 1 is equality.
const SIMILAR: f64 = 0.8;
/// Minimum number of characters of a beginning of a name.
const SHORTEST: usize = 3;

/// Names for the file of a record, without the signs between their words.
const NAMES_OF_INPUT: [&str; 5] = ["file", "filename", "filepath", "inputfile", "logfile"];

/// Names that mean about the same in logs of different programs, without the signs between their words.
const SYNONYMS: [&[&str]; 17] = [
    &[
        "client",
        "clientip",
        "clientaddr",
        "cip",
        "ip",
        "addr",
        "address",
        "remote",
        "remoteaddr",
        "remoteip",
        "remotehost",
        "src",
        "srcip",
        "sourceip",
        "peer",
    ],
    &["path", "uri", "url", "requesturi", "uristem", "target", "endpoint", "route"],
    &["status", "statuscode", "code", "response", "responsecode", "scstatus", "httpstatus"],
    &["size", "bytes", "length", "bytessent", "bodybytessent", "bodysize", "contentlength", "scbytes"],
    &[
        "duration",
        "dur",
        "latency",
        "elapsed",
        "took",
        "timetaken",
        "requesttime",
        "responsetime",
        "durationms",
    ],
    &["time", "ts", "timestamp", "date", "datetime", "timelocal"],
    &["level", "severity", "lvl", "loglevel", "priority"],
    &["message", "msg", "text", "log"],
    &["method", "verb", "requestmethod"],
    &["agent", "useragent", "ua", "httpuseragent"],
    &["referrer", "referer", "httpreferer"],
    &["user", "username", "remoteuser", "account", "login"],
    &["host", "hostname", "server", "vhost", "node"],
    &["program", "app", "appname", "process", "service", "logger"],
    &["error", "err", "exception"],
    &["query", "args", "querystring"],
    &["pid", "processid", "procid"],
];

/// Returns a question such as `did you mean 'status' or 'state'?`, with the nearest name first; `None` if no name is near
/// to the wanted one.
pub(crate) fn did_you_mean<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let wanted = Words::new(wanted);
    let mut near: Vec<(f64, &str)> = Vec::new();
    for name in names {
        let nearness = wanted.nearness(&Words::new(name));
        if nearness > 0.0 && !name.is_empty() && near.iter().all(|&(_, known)| known != name) {
            near.push((nearness, name));
        }
    }
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    let near: Vec<String> = near.iter().take(PROPOSED).map(|(_, name)| quoted(name)).collect();
    let (last, before) = near.split_last()?;
    Some(match before {
        [] => format!("did you mean {last}?"),
        before => format!("did you mean {} or {last}?", before.join(", ")),
    })
}

impl Field {
    /// Text that says how the name of the input is written, if an unknown name of a field may mean that.
    pub fn input_meant(wanted: &str) -> Option<String> {
        let is_input = NAMES_OF_INPUT.contains(&Words::new(wanted).words.concat().as_str());
        is_input.then(|| format!("{} is the name of the input", Self::INPUT))
    }
}

/// The same for the name of a field of records, which may also be meant as the name of the input.
pub(crate) fn field_meant<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    match (Field::input_meant(wanted), did_you_mean(wanted, names)) {
        (Some(input), Some(names)) => Some(format!("{input}; {names}")),
        (input, names) => input.or(names),
    }
}

/// A name in lower case, and its words: the parts between signs, and those that begin with a capital.
struct Words {
    name: String,
    words: Vec<String>,
}

impl Words {
    fn new(name: &str) -> Self {
        let mut words = vec![String::new()];
        let mut was_lower = false;
        for char in name.chars() {
            let is_sign = !char.is_alphanumeric();
            if (is_sign || was_lower && char.is_uppercase())
                && words.last().is_some_and(|word| !word.is_empty())
            {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut().filter(|_| !is_sign) {
                word.extend(char.to_lowercase());
            }
            was_lower = char.is_lowercase();
        }
        words.retain(|word| !word.is_empty());
        Self { name: name.to_lowercase(), words }
    }

    /// How near a name is to this one: 1 if it has the same words, 0 if it is not near.
    fn nearness(&self, name: &Self) -> f64 {
        let (wanted, words) = (&self.words[..], &name.words[..]);
        if wanted.is_empty() || words.is_empty() {
            return 0.0;
        }
        if wanted.concat() == words.concat() {
            1.0
        } else if words.ends_with(wanted) {
            // The last step of a path, such as `path` of `request.path`.
            0.97
        } else if words.windows(wanted.len()).any(|run| run == wanted) {
            0.94
        } else if wanted.ends_with(words) {
            0.9
        } else if self.is_misspelt(name) {
            strsim::jaro_winkler(&self.name, &name.name) * 0.99
        } else if means_the_same(&wanted.concat(), words) {
            0.8
        } else {
            0.0
        }
    }

    /// Whether a name differs from this one only by a few letters, or is the beginning of the other.
    fn is_misspelt(&self, name: &Self) -> bool {
        let (wanted, name) = (&*self.name, &*name.name);
        let [short, long] = if wanted.len() < name.len() { [wanted, name] } else { [name, wanted] };
        let is_beginning = short.chars().count() >= SHORTEST && long.starts_with(short);
        let letters = wanted.chars().count();
        (is_beginning || strsim::damerau_levenshtein(wanted, name) <= (letters / 3).max(1))
            && strsim::jaro_winkler(wanted, name) > SIMILAR
    }
}

/// Whether a name, or its last words, mean the same as another one without signs.
fn means_the_same(wanted: &str, words: &[String]) -> bool {
    let Some(group) = SYNONYMS.iter().find(|group| group.contains(&wanted)) else { return false };
    (0..words.len()).any(|from| group.contains(&&*words[from..].concat()))
}

/// A name in quotes, cut if it is long, with control characters escaped.
pub(crate) fn quoted(name: &str) -> String {
    let dots = if name.chars().nth(NAME_LENGTH).is_some() { "..." } else { "" };
    let mut shown = String::new();
    for char in name.chars().take(NAME_LENGTH) {
        match char {
            // A name with dots is typed in quotes.
            '"' => shown.push(char),
            char => shown.extend(char.escape_debug()),
        }
    }
    format!("'{shown}{dots}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first_and_once_and_equally_near_ones_in_their_order() {
        let names = ["state", "status", "path", "status", "", "stat", "statue"];
        let near = did_you_mean("STATSU", names).expect("near names");
        assert_eq!(near, "did you mean 'status', 'stat' or 'statue'?");
        assert_eq!(did_you_mean("paht", names).as_deref(), Some("did you mean 'path'?"));
        assert_eq!(did_you_mean("x", names), None);
    }

    #[test]
    fn names_are_near_by_their_words_and_their_meaning() {
        let json =
            ["time", "request.method", "request.path", "request.remote", "request.headers.userAgent", "x.y"];
        let log = ["remote_addr", "ident", "remote_user", "time_local", "status", "body_bytes_sent"];
        for (wanted, names, expected) in [
            ("path", &json[..], Some("'request.path'")),
            ("request_path", &json, Some("'request.path'")),
            ("Headers", &json, Some("'request.headers.userAgent'")),
            ("user_agent", &json, Some("'request.headers.userAgent'")),
            ("agent", &json, Some("'request.headers.userAgent'")),
            ("uri", &json, Some("'request.path'")),
            ("client", &json, Some("'request.remote'")),
            ("client", &log, Some("'remote_addr'")),
            ("ip", &log, Some("'remote_addr'")),
            ("http_status", &log, Some("'status'")),
            ("size", &log, Some("'body_bytes_sent'")),
            ("user", &log, Some("'remote_user'")),
            ("ts", &json, Some("'time'")),
            ("colour", &log, None),
            ("", &log, None),
            ("..", &log, None),
        ] {
            let near = did_you_mean(wanted, names.iter().copied());
            let expected = expected.map(|names| format!("did you mean {names}?"));
            assert_eq!(near, expected, "{wanted}");
        }
    }

    #[test]
    fn long_names_are_cut_and_control_characters_escaped() {
        assert_eq!(quoted("a\tb"), r"'a\tb'");
        assert_eq!(quoted(&"x".repeat(41)), format!("'{}...'", "x".repeat(40)));
    }
}
