//! The one HTTP client: TLS, timeouts, redirects, proxies.

use reqwest::redirect::{Attempt, Policy};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long requests may take, and whom to trust.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// To an established connection, TLS included.
    pub connect: Duration,
    /// Between two pieces of an answer; a server that stops talking is given up after this.
    pub stall: Duration,
    /// For one whole answer, however steadily it trickles.
    pub total: Duration,
    /// A PEM file with further root certificates, for a proxy or a private store.
    pub ca_file: Option<PathBuf>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            total: Duration::from_mins(5),
            ca_file: None,
        }
    }
}

/// Why the client could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpSetupError {
    /// The extra certificates could not be read.
    #[error("read certificates from `{}`: {source}", path.display())]
    CaFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// TLS could not be configured.
    #[error("configure TLS: {0}")]
    Tls(#[source] rustls::Error),
    /// The client could not be built.
    #[error("set up the HTTP client: {0}")]
    Client(#[source] reqwest::Error),
    /// The runtime could not be built.
    #[error("set up the I/O runtime: {0}")]
    Runtime(#[source] std::io::Error),
}

/// At most so many redirects, each to the same host over the same scheme.
const MAX_REDIRECTS: usize = 4;

/// The client of a store that is only read, over the scheme of its URL.
pub(super) fn reading(
    options: &HttpOptions,
    scheme: &str,
) -> Result<reqwest::Client, HttpSetupError> {
    // Redirects stay with the scheme, so plain HTTP never needs roots, and loading them is most of the start-up.
    let roots = if scheme == "https" {
        roots(options)?
    } else {
        RootCertStore::empty()
    };
    client(options, roots)?
        .read_timeout(options.stall)
        .timeout(options.total)
        .build()
        .map_err(HttpSetupError::Client)
}

/// A client for a service that is no store, without limits but that to a connection. Its caller sets them, and what
/// becomes of redirects.
pub fn client_builder(options: &HttpOptions) -> Result<reqwest::ClientBuilder, HttpSetupError> {
    client(options, roots(options)?)
}

/// The client of buckets. Its time limits are those of [`super::service`], because the ones of the client run
/// while a body is sent too.
pub(super) fn buckets(options: &HttpOptions) -> Result<reqwest::Client, HttpSetupError> {
    client(options, roots(options)?)?
        .build()
        .map_err(HttpSetupError::Client)
}

fn client(
    options: &HttpOptions,
    roots: RootCertStore,
) -> Result<reqwest::ClientBuilder, HttpSetupError> {
    Ok(reqwest::Client::builder()
        .tls_backend_preconfigured(tls(roots)?)
        .connect_timeout(options.connect)
        .redirect(Policy::custom(redirect))
        .user_agent(concat!("kernrec/", env!("CARGO_PKG_VERSION"))))
}

/// A store that sends its readers elsewhere is not the store the user named: only a path may change.
fn redirect(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let Some(from) = attempt.previous().first() else {
        return attempt.stop();
    };
    let to = attempt.url();
    let same_host = from.host_str() == to.host_str()
        && from.port_or_known_default() == to.port_or_known_default()
        && from.scheme() == to.scheme();
    let hops = attempt.previous().len();
    if !same_host {
        let text = format!("redirected to another host: `{}`", without_query(to));
        return attempt.error(text);
    }
    if hops > MAX_REDIRECTS {
        return attempt.error(format!("redirected more than {MAX_REDIRECTS} times"));
    }
    attempt.follow()
}

/// A URL without what may be a secret.
fn without_query(url: &reqwest::Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.to_string()
}

fn tls(roots: RootCertStore) -> Result<ClientConfig, HttpSetupError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder
        .with_safe_default_protocol_versions()
        .map_err(HttpSetupError::Tls)?;
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    // A ready configuration is taken as it is, so HTTP/2 has to be offered here.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The system's roots, or the bundled ones where an image has none; the extra ones always.
fn roots(options: &HttpOptions) -> Result<RootCertStore, HttpSetupError> {
    let mut roots = RootCertStore::empty();
    // Some of a system's certificates may be unreadable or malformed; the rest still counts.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    if let Some(path) = &options.ca_file {
        let broken = |source| HttpSetupError::CaFile {
            path: path.clone(),
            source,
        };
        let pem = fs_err::read(path).map_err(|e| broken(e.into()))?;
        let mut extra = 0;
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|e| broken(format!("{e:?}").into()))?;
            roots.add(certificate).map_err(|e| broken(e.into()))?;
            extra += 1;
        }
        if extra == 0 {
            return Err(broken("it holds no certificate".into()));
        }
    }
    Ok(roots)
}
