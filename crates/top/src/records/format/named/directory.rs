//! Formats by name: those of the directory of a user, and those of the product.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs, io};

use super::{BUILT_IN, FormatFileError, NamedFormat};
use crate::query::input_format::InputFormat;

/// Result of reading a format.
pub type ReadFormat = Result<Arc<NamedFormat>, FormatFileError>;

/// A definition that is not parsed yet.
pub(super) struct Definition {
    name: Cow<'static, str>,
    /// The file of a user.
    file: Option<PathBuf>,
    text: Result<Cow<'static, str>, String>,
}

impl Definition {
    fn of_product(&(name, text): &(&'static str, &'static str)) -> Self {
        Self { name: Cow::Borrowed(name), file: None, text: Ok(Cow::Borrowed(text)) }
    }

    /// Reads a file of a user; `None` if there is none.
    fn of_user(name: &str, file: PathBuf) -> Option<Self> {
        let text = match fs::read_to_string(&file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            read => read.map(Cow::Owned).map_err(|error| error.to_string()),
        };
        Some(Self { name: Cow::Owned(name.to_owned()), file: Some(file), text })
    }

    /// Whether its text has this word.
    pub(super) fn has(&self, word: &str) -> bool {
        self.text.as_ref().is_ok_and(|text| text.contains(word))
    }

    pub(super) fn parse(&self) -> ReadFormat {
        let file = self.file.as_deref();
        match &self.text {
            Ok(text) => NamedFormat::parse(&self.name, file, text).map(Arc::new),
            Err(message) => Err(FormatFileError {
                file: file.map(Path::to_owned).unwrap_or_default(),
                line: 1,
                message: message.clone(),
            }),
        }
    }
}

/// Directory with the formats of a user: `finecomb/formats` in `$XDG_CONFIG_HOME`, or else in `~/.config`. `None` without a home
/// directory.
pub fn user_formats() -> Option<PathBuf> {
    let directory = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = directory("XDG_CONFIG_HOME").or_else(|| Some(directory("HOME")?.join(".config")))?;
    Some(config.join("finecomb").join("formats"))
}

/// Returns the format with this name. One of the user replaces one of the product.
pub(crate) fn find(name: &str) -> Option<ReadFormat> {
    let file =
        user_formats().filter(|_| is_name(name)).map(|directory| directory.join(format!("{name}.toml")));
    let of_user = file.and_then(|file| Definition::of_user(name, file));
    let of_product = || BUILT_IN.iter().find(|(known, _)| *known == name).map(Definition::of_product);
    Some(of_user.or_else(of_product)?.parse())
}

/// All formats with names: those of the user, then those of the product that are not replaced, each in the order of their names.
pub fn named_formats() -> Vec<ReadFormat> {
    definitions().iter().map(Definition::parse).collect()
}

/// The definitions of all formats, in the same order.
pub(super) fn definitions() -> Vec<Definition> {
    let of_user = user_files();
    let is_replaced = |name: &str| of_user.iter().any(|definition| definition.name == name);
    let others: Vec<Definition> =
        BUILT_IN.iter().filter(|(name, _)| !is_replaced(name)).map(Definition::of_product).collect();
    of_user.into_iter().chain(others).collect()
}

/// The definitions of the user.
fn user_files() -> Vec<Definition> {
    let entries = user_formats().and_then(|directory| fs::read_dir(directory).ok());
    let definition = |entry: io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path();
        let name = path.file_name()?.to_str()?.strip_suffix(".toml")?.to_owned();
        let mut definition = Definition::of_user(&name, path)?;
        if !is_name(&name) {
            definition.text = Err(format!("'{name}' cannot be the name of a format; {NAME_RULE}"));
        }
        Some(definition)
    };
    let mut definitions: Vec<_> = entries.into_iter().flatten().filter_map(definition).collect();
    definitions.sort_by(|one, other| one.name.cmp(&other.name));
    definitions
}

const NAME_RULE: &str = "it has letters, digits, '_' and '-', and is no other value of --input";

/// Whether `--input` can name a format by this word.
fn is_name(name: &str) -> bool {
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    let is_taken = name == "auto" || InputFormat::NAMES.contains(&name);
    !name.is_empty() && name.bytes().all(is_of_word) && !is_taken
}
