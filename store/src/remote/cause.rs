//! Why a request failed, out of the chain of errors that a client leaves.

use super::runtime::{Overdue, Stalled, TooSlow};
use crate::{Key, StoreError};
use std::error::Error;
use std::io;
use tokio::time::error::Elapsed;

type Cause = Box<dyn Error + Send + Sync>;

/// What a failed request means for its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Another try may succeed.
    Passing,
    /// A limit was reached.
    TimedOut,
    /// A certificate does not hold.
    Untrusted,
}

/// Looks through the whole chain.
pub(super) fn class(error: &(dyn Error + 'static)) -> Class {
    let mut next = Some(error);
    while let Some(error) = next {
        let is_limit = error.is::<Overdue>() || error.is::<Stalled>() || error.is::<TooSlow>();
        if is_limit || error.is::<Elapsed>() {
            return Class::TimedOut;
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return of_tls(error);
        }
        if let Some(error) = error.downcast_ref::<reqwest::Error>()
            && error.is_timeout()
        {
            return Class::TimedOut;
        }
        if let Some(error) = error.downcast_ref::<io::Error>() {
            if error.kind() == io::ErrorKind::TimedOut {
                return Class::TimedOut;
            }
            // The source of an I/O error is that of the error it wraps, which would be skipped.
            next = error.get_ref().map(|inner| inner as &(dyn Error + 'static));
        } else {
            next = error.source();
        }
    }
    Class::Passing
}

/// The messages of the whole chain: "connection refused" stands at its end. A cause that its error repeats is left
/// out.
pub(super) fn text(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let message = error.to_string();
        if !text.ends_with(&message) {
            text = format!("{text}: {message}");
        }
        next = error.source();
    }
    text
}

fn of_tls(error: &rustls::Error) -> Class {
    match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => {
            Class::Untrusted
        }
        _ => Class::Passing,
    }
}

/// The error of a store for a failed request.
pub(super) fn store_error(
    url: &str,
    key: &Key,
    action: &'static str,
    class: Class,
    source: Cause,
) -> StoreError {
    let (url, key) = (url.to_owned(), key.to_string());
    match class {
        Class::Passing => StoreError::Unavailable {
            url,
            key,
            action,
            source,
        },
        Class::TimedOut => StoreError::TimedOut {
            url,
            key,
            action,
            source,
        },
        Class::Untrusted => StoreError::Untrusted {
            url,
            key,
            action,
            source,
        },
    }
}
