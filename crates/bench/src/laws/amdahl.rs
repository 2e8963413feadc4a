//! Amdahl's law.

use super::Law;

/// T(n) = a + b/n: a part of the work is serial, and the rest is divided among n processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amdahl {
    /// Seconds of the serial part.
    serial: f64,
    /// Seconds of the rest on one processor.
    divided: f64,
}

impl Amdahl {
    /// The share of the serial part in the time that one processor needs, from 0 to 1.
    pub fn serial_fraction(&self) -> f64 {
        self.serial / (self.serial + self.divided)
    }

    /// Largest possible speed-up, with any number of processors; infinite without a serial part.
    pub fn limit(&self) -> f64 {
        self.serial_fraction().recip()
    }
}

impl Law<2> for Amdahl {
    fn terms(width: f64) -> [f64; 2] {
        [1.0, 1.0 / width]
    }

    fn new([serial, divided]: [f64; 2]) -> Option<Self> {
        (serial + divided > 0.0).then_some(Self { serial, divided })
    }

    fn coefficients(&self) -> [f64; 2] {
        [self.serial, self.divided]
    }
}
