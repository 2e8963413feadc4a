//! Languages that the first line of a file names.

use memchr::{memchr, memmem};

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

/// The language of a text whose first line names an interpreter, as in `#!/usr/bin/env python3`, or a mode of Emacs, as in
/// `// <vector> -*- C++ -*-`.
pub(super) fn language(text: &[u8]) -> Option<Language> {
    let line = &text[..memchr(b'\n', text).unwrap_or(text.len())];
    let name = match line.strip_prefix(b"#!") {
        Some(command) => interpreter(std::str::from_utf8(command).ok()?)?,
        None => mode(line)?,
    };
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    alias.map_or(name, |(_, language)| language).parse().ok()
}

/// Name of the interpreter of a command, without its version.
fn interpreter(command: &str) -> Option<&str> {
    let mut words = command.split_ascii_whitespace();
    let mut name = file_name(words.next()?);
    if name == "env" {
        // `env -S NAME=value program`
        name = file_name(words.find(|word| !word.starts_with('-') && !word.contains('='))?);
    }
    Some(name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-'))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The mode between `-*-` and `-*-`: alone, or as `mode: NAME` among variables.
fn mode(line: &[u8]) -> Option<&str> {
    let start = memmem::find(line, b"-*-")? + 3;
    let length = memmem::find(&line[start..], b"-*-")?;
    let variables = std::str::from_utf8(&line[start..start + length]).ok()?;
    let is_mode = |name: &str| name.trim().eq_ignore_ascii_case("mode");
    let pairs = variables.split(';').filter_map(|variable| variable.split_once(':'));
    let named = pairs.filter(|(name, _)| is_mode(name)).map(|(_, mode)| mode).next();
    named.or(Some(variables).filter(|mode| !mode.contains(':'))).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_the_language() {
        for (line, expected) in [
            ("#!/usr/bin/env python3", "python"),
            ("#!/usr/bin/python3.11 -E\nimport a", "python"),
            ("#! /usr/bin/env -S LANG=C lua5.4 -x", "lua"),
            ("#!/usr/bin/env node\r", "javascript"),
            ("#!/usr/bin/deno", "typescript"),
            ("// <vector> -*- C++ -*-\n", "cpp"),
            ("/* -*- tab-width: 8; Mode: C++; indent-tabs-mode: nil -*- */", "cpp"),
            ("# -*- python -*-", "python"),
        ] {
            assert_eq!(language(line.as_bytes()).map(Language::name), Some(expected), "{line}");
        }
        for line in [
            "",
            "#!",
            "#!/usr/bin/env",
            "#!/usr/bin/awk -f",
            "# !/bin/python",
            "#!/bin/tclsh",
            "-*- C++",
            "# -*- coding: utf-8 -*-",
            "\n# -*- c -*-",
        ] {
            assert_eq!(language(line.as_bytes()), None, "{line}");
        }
    }
}
