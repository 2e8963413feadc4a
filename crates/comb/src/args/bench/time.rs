//! Duration of an experiment.

use std::time::Duration;

/// Parses a number of seconds from 0.01 to 600: shorter measures nothing, and nobody waits longer.
pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let bounds = Duration::from_millis(10)..=Duration::from_secs(600);
    seconds
        .filter(|seconds| bounds.contains(seconds))
        .ok_or_else(|| "it is a number of seconds from 0.01 to 600".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_bounds() {
        assert_eq!(parse_seconds("0.01"), Ok(Duration::from_millis(10)));
        assert_eq!(parse_seconds("600"), Ok(Duration::from_secs(600)));
        for wrong in ["0", "-1", "601", "nan", "inf", "", "1s"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
