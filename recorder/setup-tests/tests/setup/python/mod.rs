//! The Python recorder set up by the launcher, in real Pythons.

mod bench;

mod endings;
mod installed;
mod refused;
mod shells;
mod together;
