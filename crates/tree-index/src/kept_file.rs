//! Files of an index that a watch keeps open, since its process answers many questions.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex};

use finecomb_scan::Stamp;
use finecomb_sys::locks::lock;

use crate::error::Error;

/// A file of an index that stays open. It is opened again once another file has taken its place: none is changed otherwise.
#[derive(Debug)]
pub(crate) struct KeptFile<T>(Mutex<Option<(Stamp, Option<Arc<T>>)>>);

impl<T> Default for KeptFile<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> KeptFile<T> {
    /// Returns the file, opened by `open` unless it is open; `None` if there is none, or nothing of use in it.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(crate) fn get(
        &self,
        path: &Path,
        open: impl FnOnce() -> Result<Option<T>, Error>,
    ) -> Result<Option<Arc<T>>, Error> {
        let present = match File::open(path).and_then(Stamp::of_open) {
            Ok(stamp) => stamp,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(path)(error)),
        };
        let mut kept = lock(&self.0);
        if let Some((stamp, contents)) = &*kept
            && *stamp == present
        {
            return Ok(contents.clone());
        }
        let contents = open()?.map(Arc::new);
        *kept = Some((present, contents.clone()));
        Ok(contents)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_opened_once_until_another_takes_its_place() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("file");
        let (kept, mut opened) = (KeptFile::default(), 0);
        let mut get = |is_of_use: bool| {
            let text = kept.get(&path, || {
                opened += 1;
                Ok(is_of_use.then(|| fs::read_to_string(&path).expect("a text")))
            });
            (text.expect("no error").map(|text| String::clone(&text)), opened)
        };
        let replace = |text: &str| {
            fs::write(directory.path().join("new"), text).expect("room");
            fs::rename(directory.path().join("new"), &path).expect("success");
        };
        assert_eq!(get(true), (None, 0));
        replace("one");
        assert_eq!([get(true), get(false)], [(Some("one".to_owned()), 1), (Some("one".to_owned()), 1)]);
        replace("two");
        assert_eq!([get(false), get(true)], [(None, 2), (None, 2)]);
        replace("three");
        assert_eq!(get(true), (Some("three".to_owned()), 3));
        fs::remove_file(&path).expect("success");
        assert_eq!(get(true), (None, 3));
    }
}
