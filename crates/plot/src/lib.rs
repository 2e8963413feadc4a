//! Pictures as SVG documents: the style that all have in common, and charts of values over time.
//!
//! [`document`] makes a document with a title and an area to draw on with plotters. [`Timeline`] is a chart.

mod document;
mod format;
mod timeline;
mod wrap;

pub use document::{Area, BELOW, COLOURS, Drawn, LABEL, document, px, set_style, text_style};
pub use format::Format;
pub use timeline::{Curve, Tick, Timeline};
pub use wrap::wrapped;
