//! Proposes known names that are near to an unknown one.

/// Maximum number of names that are proposed.
const PROPOSED: usize = 3;
/// Maximum number of characters of a name in a message.
const NAME_LENGTH: usize = 40;
/// The similarity of names to propose, where 1 is equality.
const NEAR: f64 = 0.8;

/// Returns a question such as `did you mean 'status' or 'state'?`, with the nearest name first; `None` if no name is near
/// to the wanted one.
pub(crate) fn did_you_mean<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let wanted = wanted.to_lowercase();
    let similarity = |name: &str| strsim::jaro_winkler(&wanted, &name.to_lowercase());
    let mut near: Vec<(f64, &str)> = Vec::new();
    for name in names {
        let similarity = similarity(name);
        if similarity > NEAR && !name.is_empty() && near.iter().all(|&(_, known)| known != name) {
            near.push((similarity, name));
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

/// A name in quotes, cut if it is long, with control characters escaped.
pub(crate) fn quoted(name: &str) -> String {
    let cut: String = name.chars().take(NAME_LENGTH).collect();
    let dots = if cut.len() < name.len() { "..." } else { "" };
    format!("'{}{dots}'", cut.escape_debug())
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
    fn long_names_are_cut_and_control_characters_escaped() {
        assert_eq!(quoted("a\tb"), r"'a\tb'");
        assert_eq!(quoted(&"x".repeat(41)), format!("'{}...'", "x".repeat(40)));
    }
}
