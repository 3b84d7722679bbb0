//! The actions of `actions/`, executed: each `run:` of theirs by bash, with the files and variables of a runner.
//!
//! The runner itself is imitated as far as its documentation goes; see [`runner`].

mod collecting;
mod declared;
mod expression;
mod recording;
mod release;
mod runner;
mod selecting;
mod whole;
mod workflow;
mod yaml;
