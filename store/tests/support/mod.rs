//! Real parts for tests.

pub(crate) mod seaweed;
