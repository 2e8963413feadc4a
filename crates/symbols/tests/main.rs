//! Tests of the interface of this crate. All are in one binary, which links the libraries once and shares the cores among them.

#[cfg(feature = "cpp")]
mod c;
#[cfg(feature = "cpp")]
mod cplusplus;
mod deep;
mod half_written;
#[cfg(feature = "kotlin")]
mod kotlin;
mod languages;
mod names;
#[cfg(feature = "python")]
mod python;
mod records;
mod references;
