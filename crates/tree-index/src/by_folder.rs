//! Values of this process for indexes, found by the folders of these.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use finecomb_sys::locks::lock;

use crate::folder::Folder;

/// Values by the folders of indexes.
pub(crate) struct ByFolder<T>(Mutex<Vec<(PathBuf, Arc<T>)>>);

/// Keeps a value in its place until it is dropped.
pub(crate) struct Entered<T: 'static> {
    place: &'static ByFolder<T>,
    value: Arc<T>,
}

impl<T> ByFolder<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Adds the value of an index.
    pub(crate) fn enter(&'static self, folder: &Folder, value: T) -> Entered<T> {
        let value = Arc::new(value);
        lock(&self.0).push((folder.path().to_owned(), Arc::clone(&value)));
        Entered { place: self, value }
    }

    /// The value of an index.
    pub(crate) fn get(&self, folder: &Folder) -> Option<Arc<T>> {
        let values = lock(&self.0);
        values.iter().find(|(path, _)| path == folder.path()).map(|(_, value)| Arc::clone(value))
    }
}

impl<T> Entered<T> {
    pub(crate) fn value(&self) -> &Arc<T> {
        &self.value
    }
}

impl<T> Drop for Entered<T> {
    fn drop(&mut self) {
        lock(&self.place.0).retain(|(_, value)| !Arc::ptr_eq(value, &self.value));
    }
}
