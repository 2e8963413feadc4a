//! Pictures as SVG documents: the style that all have in common, and charts of values over time.
//!
//! [`document`] makes a document of a title and SVG elements. [`Timeline`] is a chart.

mod document;
mod format;
mod timeline;
mod value_axis;
mod wrap;

pub use document::{AXIS, COLOURS, Colour, GRID, INK, LABEL, document};
pub use format::PictureFormat;
pub use timeline::{Curve, Tick, Timeline};
pub use wrap::wrapped;
