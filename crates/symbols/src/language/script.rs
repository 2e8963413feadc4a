//! Languages of scripts by their first line.

use super::Language;

/// Other names of interpreters, with the name or an extension of the language.
const ALIASES: [(&str, &str); 7] = [
    ("bun", "ts"),
    ("dash", "bash"),
    ("deno", "ts"),
    ("luajit", "lua"),
    ("node", "javascript"),
    ("pypy", "python"),
    ("ts-node", "ts"),
];

/// The language of a text that begins with `#!` and an interpreter: `#!/usr/bin/env python3`.
pub(super) fn language(text: &[u8]) -> Option<Language> {
    let line = text.strip_prefix(b"#!")?;
    let line = line.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let program = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let mut name = words.next().map(program)?;
    if name == "env" {
        // `env -S NAME=value program`
        name = words.find(|word| !word.starts_with('-') && !word.contains('=')).map(program)?;
    }
    let name = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or(name, |(_, language)| language).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interpreter_names_the_language() {
        for (line, expected) in [
            ("#!/usr/bin/env python3", "python"),
            ("#!/usr/bin/python3.11 -E\nimport a", "python"),
            ("#! /usr/bin/env -S LANG=C lua5.4 -x", "lua"),
            ("#!/usr/bin/env node\r", "javascript"),
            ("#!/usr/bin/deno", "typescript"),
        ] {
            assert_eq!(language(line.as_bytes()).map(Language::name), Some(expected), "{line}");
        }
        for line in ["", "#!", "#!/usr/bin/env", "#!/usr/bin/awk -f", "# !/bin/python", "#!/bin/tclsh"] {
            assert_eq!(language(line.as_bytes()), None, "{line}");
        }
    }
}
