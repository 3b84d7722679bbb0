//! Armed steps, run as an agent runs them: the same status and output as without, and a bundle that is right.

mod agent;
mod collectors;
mod containers;
mod functions;
mod release;
mod shapes;
