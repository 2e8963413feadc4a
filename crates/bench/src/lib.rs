//! Runs a job at many widths, fits the laws of scaling to what it took, and draws the plots.

#![forbid(unsafe_code)]
