//! Formats by name: those of the directory of a user, and those of the product.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, io};

use super::{BUILT_IN, FormatFileError, NamedFormat};

/// Result of reading a format.
pub type ReadFormat = Result<Arc<NamedFormat>, FormatFileError>;

/// Directory with the formats of a user: `finecomb/formats` in `$XDG_CONFIG_HOME`, or else in `~/.config`. `None` without a home
/// directory.
pub fn user_formats() -> Option<PathBuf> {
    let directory = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = directory("XDG_CONFIG_HOME").or_else(|| Some(directory("HOME")?.join(".config")))?;
    Some(config.join("finecomb").join("formats"))
}

/// Returns the format with this name. One of the user replaces one of the product.
pub(crate) fn find(name: &str) -> Option<ReadFormat> {
    let is_name =
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let file = user_formats().filter(|_| is_name).map(|directory| directory.join(format!("{name}.toml")));
    let of_user = file.and_then(|file| read(name, &file, |_| true));
    of_user.or_else(|| {
        BUILT_IN.iter().find(|(known, _)| *known == name).map(|&(name, text)| built_in(name, text))
    })
}

/// All formats with names: those of the user, then those of the product that are not replaced, each in the order of their names.
pub fn named_formats() -> Vec<ReadFormat> {
    formats_where(|_| true)
}

/// The same for the formats whose definitions are wanted. The others are not parsed.
pub(super) fn formats_where(is_wanted: impl Fn(&str) -> bool) -> Vec<ReadFormat> {
    let of_user = user_files();
    let is_replaced = |name: &str| of_user.iter().any(|(known, _)| known == name);
    let others = BUILT_IN.iter().filter(|(name, text)| !is_replaced(name) && is_wanted(text));
    let users = of_user.iter().filter_map(|(name, file)| read(name, file, &is_wanted));
    users.chain(others.map(|&(name, text)| built_in(name, text))).collect()
}

/// The files of the user with their names.
fn user_files() -> Vec<(String, PathBuf)> {
    let entries = user_formats().and_then(|directory| fs::read_dir(directory).ok());
    let file = |entry: io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_str()?.strip_suffix(".toml")?.to_owned();
        Some((name, path))
    };
    let mut files: Vec<_> = entries.into_iter().flatten().filter_map(file).collect();
    files.sort();
    files
}

/// Reads a file of a user; `None` if there is none, or its definition is not wanted.
fn read(name: &str, file: &Path, is_wanted: impl Fn(&str) -> bool) -> Option<ReadFormat> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => {
            return Some(Err(FormatFileError { file: file.to_owned(), line: 1, message: error.to_string() }));
        }
    };
    is_wanted(&text).then(|| NamedFormat::parse(name, Some(file), &text).map(Arc::new))
}

fn built_in(name: &str, text: &str) -> ReadFormat {
    NamedFormat::parse(name, None, text).map(Arc::new)
}
