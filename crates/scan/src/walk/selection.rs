//! A number for all that decides which entries of a directory are selected. The selection of a snapshot holds as long as this
//! number is the same.

use std::fs;
use std::hash::Hasher;
use std::path::Path;

use ignore::gitignore::gitconfig_excludes_path;
use twox_hash::XxHash3_64;

use super::WalkOptions;
use super::rules::DirectoryRules;

/// The hash of the options and the rules that apply everywhere; `None` if the selection depends on more than names and the
/// rule files of directories. Globs and types are applied to what is selected without them.
pub(super) fn everywhere(options: &WalkOptions) -> Option<XxHash3_64> {
    let WalkOptions { skip_hidden, rules, rule_files, rules_ignore_case, follow, .. } = options;
    if !rule_files.is_empty() || *follow {
        return None;
    }
    let mut hasher = XxHash3_64::new();
    let flags = [
        *skip_hidden,
        *rules_ignore_case,
        rules.dot,
        rules.git,
        rules.git_exclude,
        rules.git_global,
        rules.parents,
        rules.require_git,
    ];
    hasher.write(&flags.map(u8::from));
    if rules.git
        && rules.git_global
        && let Some(path) = gitconfig_excludes_path()
    {
        hasher.write(&global_rules(&path)?);
    }
    Some(hasher)
}

/// The text of rules that apply everywhere. They are matched with displayed paths, so that one with a slash selects by
/// where a search was started.
fn global_rules(path: &Path) -> Option<Vec<u8>> {
    let text = fs::read(path).unwrap_or_default();
    let names_only = |line: &[u8]| {
        let line = line.trim_ascii_end();
        !line.strip_suffix(b"/").unwrap_or(line).contains(&b'/')
    };
    text.split(|&byte| byte == b'\n').all(names_only).then_some(text)
}

/// The number for a directory with these rules.
pub(super) fn number(everywhere: &XxHash3_64, rules: Option<&DirectoryRules>) -> u64 {
    let mut hasher = everywhere.clone();
    if let Some(rules) = rules {
        rules.hash(&mut hasher);
    }
    // 0 stands for none.
    hasher.finish().max(1)
}
