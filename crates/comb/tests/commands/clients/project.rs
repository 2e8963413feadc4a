//! The tree that clients search.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::{directory_with, program, run, write};

/// A directory with a source tree, a user's home and a program `rg`.
pub(super) struct Project {
    directory: TempDir,
}

impl Project {
    /// A project in which `rg` is a link to the program.
    pub(super) fn with_program(program: &Path) -> Self {
        let project = Self::new();
        symlink(program, project.directory.path().join("bin/rg")).expect("a link");
        project
    }

    /// A project in which `rg` is ripgrep, with files in the order of their paths, which is that of comb.
    pub(super) fn with_ripgrep(program: &Path) -> Self {
        let project = Self::new();
        let script = format!("#!/bin/sh\nexec '{}' --sort path \"$@\"\n", program.display());
        write(&project.directory, "bin/rg", script);
        let file = project.directory.path().join("bin/rg");
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("permissions");
        project
    }

    fn new() -> Self {
        let directory = directory_with(&[
            (".gitignore", "*.md\n"),
            ("other-ignore", "/src/lib.rs\n"),
            ("ripgreprc", "--invert-match\n--glob=!*.rs\n"),
            ("home/.config/git/ignore", "*.bak\n"),
            ("bin/empty", ""),
            ("project/.git/HEAD", "ref: refs/heads/hello\n"),
            ("project/.gitignore", "/target/\n*.log\n"),
            ("project/.ignore", "/vendor\n"),
            ("project/.hidden/notes.rs", "// TODO: say hello\n"),
            ("project/build.log", "hello\n"),
            ("project/docs/read me.md", "# Hello\n\nHello, hello.\n"),
            ("project/docs/old.bak", "hello\n"),
            ("project/node_modules/pkg/index.js", "console.log('hello');\n"),
            ("project/src/lib.rs", "pub fn hello() {\r\n    \"hello\"\r\n}\r\n// -> &str; hello;\r\n"),
            ("project/src/main.rs", "fn main() {\n\tprintln!(\"Hello, wörld\");\n\t// TODO: say hello\n}\n"),
            ("project/target/out.rs", "hello\n"),
            ("project/utf8-bom.txt", "\u{FEFF}hello from a mark\n"),
            ("project/vendor/hello.js", "say('hello');\n"),
        ]);
        write(&directory, "project/binary", b"hello\0\n");
        write(&directory, "project/invalid.txt", b"\xFF hello \xFE\n");
        write(&directory, "project/latin1.txt", b"caf\xE9\n");
        write(&directory, "project/long.txt", "x".repeat(1200) + "\n");
        let utf16: Vec<u8> = "hello, ö\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        write(&directory, "project/utf16.txt", [b"\xFF\xFE", &utf16[..]].concat());
        symlink("docs", directory.path().join("project/linked")).expect("a link");
        let compress = "printf 'one\\nhello from afar\\n' | gzip -n > project/data.txt.gz";
        run(program("sh", directory.path()).args(["-c", compress]));
        Self { directory }
    }

    /// A program that finds `rg`, in the source tree.
    pub(super) fn command(&self, name: &str) -> Command {
        let root = self.directory.path();
        let path = env::var("PATH").unwrap_or_default();
        let mut command = program(name, &root.join("project"));
        command.env("PATH", format!("{}:{path}", root.join("bin").display())).env("HOME", root.join("home"));
        command.env("LC_ALL", "C.UTF-8").env("TERM", "xterm");
        for variable in ["RIPGREP_CONFIG_PATH", "FZF_DEFAULT_COMMAND", "FZF_DEFAULT_OPTS"] {
            command.env_remove(variable);
        }
        command
    }
}
