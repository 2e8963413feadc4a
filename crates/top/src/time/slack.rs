//! How far a log may be from the order of time.

use std::fmt;
use std::str::FromStr;

use jiff::SignedDuration;
use thiserror::Error;

use super::bound::duration;

/// The longest time by which a record may be earlier than one before it, in a log that is nearly in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slack {
    pub(crate) nanoseconds: i64,
}

/// A text that is no duration.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("expected a duration such as 0s, 90s, 15m or 2h; found '{0}'")]
pub struct SlackError(String);

impl FromStr for Slack {
    type Err = SlackError;

    fn from_str(text: &str) -> Result<Self, SlackError> {
        let nanoseconds = duration(text).filter(|_| !text.ends_with("ago"));
        nanoseconds.map(|nanoseconds| Self { nanoseconds }).ok_or_else(|| SlackError(text.to_owned()))
    }
}

/// For people: `1m`, `1h 30m`.
impl fmt::Display for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", SignedDuration::from_nanos(self.nanoseconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slack_is_a_duration() {
        let parsed = |text: &str| text.parse().map(|slack: Slack| slack.to_string());
        assert_eq!(parsed("60s").as_deref(), Ok("1m"));
        assert_eq!(parsed("1h30m").as_deref(), Ok("1h 30m"));
        assert_eq!(parsed("0s").as_deref(), Ok("0s"));
        for text in ["", "2h ago", "-1s", "5", "now"] {
            assert_eq!(parsed(text), Err(SlackError(text.to_owned())), "{text}");
        }
    }
}
